import { type Static, Type } from '@sinclair/typebox';
import { Few, FewNamed, Named, NamedClosed, NamedObject, Nullable, Text, Timestamp } from '../common.ts';
import { nextCursor } from '../pagination.ts';
import { Mode } from '../terminals/collaborations.ts';
import { ChangesBody } from './insight.ts';
import { LifetimeSummary, lifetimeFields } from './lifetime.ts';

/** As in src/domain/containers/environment.ts. */
const MAX_ENV_NAMES = 512;

const Resources = NamedObject('Resources', {
  memory_mb: Type.Integer(),
  cpu_shares: Type.Integer({ description: 'Millicores: 1000 is one core. A hard limit.' }),
  disk_mb: Type.Integer(),
});

const RoleSetupBody = NamedObject('RoleSetup', {
  status: Type.Union(['none', 'installing', 'ready', 'failed'].map((status) => Type.Literal(status))),
  detail: Nullable(Type.String({ description: 'The end of the installer’s output.' })),
});

export const ContainerBody = NamedObject('Container', {
  id: Nullable(Type.String({ description: 'Runtime identifier; null until the engine has made one.' })),
  db_id: Type.String(),
  name: Type.String(),
  image: Type.String(),
  status: Type.String(),
  status_reason: Nullable(Type.String()),
  role: Type.String(),
  resources: Resources,
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
  started_at: Nullable(Timestamp),
  volume: Type.Object({
    name: Type.String(),
    size_mb: Type.Integer(),
    used_mb: Nullable(Type.Integer({ description: 'As last measured. null: never measured.' })),
    quota: Type.String({ description: 'hard: enforced by a file system. soft: measured every minute.' }),
  }),
  layer: Type.Object(
    {
      limit_mb: Type.Integer({
        description: 'From the owner’s tier. Above this, the container is stopped.',
      }),
      used_mb: Nullable(Type.Integer({ description: 'As last measured. null: never measured.' })),
    },
    { description: 'Disk use outside /workspace.' },
  ),
  owner: Type.Object({ id: Type.String(), username: Type.String() }),
  role_setup: RoleSetupBody,
  labels: Type.Record(Type.String(), Type.String()),
  lifetime: Nullable(LifetimeSummary),
  agent: Type.Optional(
    Type.Object(
      { platform: Type.String(), last_seen_at: Timestamp },
      {
        description:
          'Present for an agent: a machine of its owner’s own. Its `image` and `role` are `agent`, its sizes are 0.',
      },
    ),
  ),
  collaboration: Type.Optional(
    Type.Object(
      { id: Type.String(), mode: Mode },
      { description: 'How its owner shares it with the caller; absent for the owner.' },
    ),
  ),
  deleted_at: Type.Optional(Timestamp),
  kept_until: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'The container can be restored at least until this time. Then it is permanently deleted.',
    }),
  ),
  keeps_installed: Type.Optional(
    Type.Boolean({
      description:
        'Of a deleted container: whether a restore returns what was installed outside /workspace, as saved by the last change of limits.',
    }),
  ),
});

export const ContainerList = NamedObject('ContainerList', {
  containers: Type.Array(ContainerBody),
  next_cursor: nextCursor,
  total: Type.Integer({ description: 'The number of containers on all pages.' }),
  kept_days: Type.Optional(
    Nullable(
      Type.Integer({
        description:
          'With `deleted=true`: how many days a deleted container is kept, at least. null for guests: less than an hour.',
      }),
    ),
  ),
});

export const CreateContainerRequest = NamedClosed('CreateContainerRequest', {
  name: Type.Optional(
    Type.String({ description: 'Required, except for an ephemeral container, which gets one.' }),
  ),
  snapshot_id: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'A snapshot instead of an image: its files, and its role and limits unless given.',
    }),
  ),
  image: Type.Optional(Text({ maxLength: 512 })),
  role: Type.Optional(Text({ maxLength: 64 })),
  memory_mb: Type.Optional(Type.Integer()),
  cpu_shares: Type.Optional(Type.Integer()),
  disk_mb: Type.Optional(Type.Integer()),
  env: Type.Optional(FewNamed(Type.String(), MAX_ENV_NAMES)),
  ...lifetimeFields,
});

export const UpdateContainerRequest = NamedClosed('UpdateContainerRequest', {
  name: Type.String(),
  memory_mb: Type.Integer(),
  cpu_shares: Type.Integer(),
  disk_mb: Type.Integer(),
  carry_over: Type.Optional(
    Type.Boolean({ description: 'Keep what was installed outside the volume. Default false.' }),
  ),
});

export const UpdatedBody = NamedObject('ContainerUpdated', {
  message: Type.String(),
  restarted: Type.Boolean(),
  container: ContainerBody,
  left_behind: Type.Optional(Nullable(ChangesBody)),
});

export const StartedBody = NamedObject('ContainerStarted', {
  message: Type.String(),
  id: Nullable(Type.String()),
  name: Type.String(),
  status: Type.String(),
  old_id: Type.Optional(Nullable(Type.String())),
  recreated: Type.Optional(Type.Boolean()),
  volume_kept: Type.Optional(Type.Boolean()),
});

export const StoppedBody = NamedObject('ContainerStopped', {
  message: Type.String(),
  id: Nullable(Type.String()),
  name: Type.String(),
  status: Type.String(),
});

/** The engine did not answer in time: the operation continues, and events report its end. */
export const UnderWayBody = Named(
  'ContainerInProgress',
  Type.Composite([ContainerBody, Type.Object({ message: Type.String() })]),
);

export const DeletedBody = NamedObject('ContainerDeleted', {
  message: Type.String(),
  id: Nullable(Type.String()),
  db_id: Type.String(),
  name: Type.String(),
});

export const PurgeRequest = NamedClosed('PurgeRequest', {
  name: Type.String({ description: 'The name of the container, as confirmation.' }),
});

export const PurgedBody = NamedObject('ContainerPurged', {
  message: Type.String(),
  db_id: Type.String(),
  name: Type.String(),
});

export const KeptSumBody = NamedObject('DeletedContainersSum', {
  count: Type.Integer({ description: 'Deleted containers of all users that still have their volume.' }),
  used_mb: Type.Integer({ description: 'What these volumes use, as last measured.' }),
  retention_days: Type.Integer({ description: 'As set. They are permanently deleted a day after that.' }),
});

export const ExecRequestBody = NamedClosed('ExecRequest', {
  command: Few(Text({ maxLength: 32_768 }), { minItems: 1, maxItems: 1024 }),
  stdin: Type.Optional(Type.String()),
  env: Type.Optional(FewNamed(Type.String(), MAX_ENV_NAMES)),
  workdir: Type.Optional(Text({ minLength: 1, maxLength: 4096 })),
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
});

export const ExecResultBody = NamedObject('ExecResult', {
  exit_code: Nullable(Type.Integer({ description: 'null: ended by the time limit.' })),
  stdout: Type.String(),
  stderr: Type.String(),
  truncated: Type.Boolean(),
  duration_ms: Type.Number(),
});

export type ContainerBody = Static<typeof ContainerBody>;
export type ContainerListBody = Static<typeof ContainerList>;
export type KeptSumBody = Static<typeof KeptSumBody>;
export type CreateContainerRequest = Static<typeof CreateContainerRequest>;
export type UpdateContainerRequest = Static<typeof UpdateContainerRequest>;
export type StartedBody = Static<typeof StartedBody>;
