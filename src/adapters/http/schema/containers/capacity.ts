import { type Static, Type } from '@sinclair/typebox';
import { NamedObject, Nullable, OneOf, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

const Mb = Type.Integer();
const Count = Type.Integer();
const Unknown = (description: string) => Nullable(Type.Integer({ description }));

const OfTheMachine = 'null: unknown, as for an engine on another machine.';
const Ratio = Nullable(
  Type.Number({ description: 'Promised to running containers for each unit that exists; 1.5 is 50 % more.' }),
);

const Amount = Type.Object({ count: Count, used_mb: Mb });

export const NodeBody = NamedObject('NodeCapacity', {
  name: Type.String({ description: 'Of the engine, as in `node`.' }),
  reachable: Type.Boolean({ description: 'Whether the engine answers. Otherwise its figures are null.' }),
  cpu: Type.Object({
    total_millicores: Unknown(OfTheMachine),
    used_millicores: Unknown('By all programs of the machine. null: unknown.'),
    containers_millicores: Unknown('By containers alone. null: unknown.'),
    promised_millicores: Type.Integer({ description: 'The limits of running containers.' }),
    promised_all_millicores: Type.Integer({ description: 'The limits of all containers.' }),
    overcommit: Ratio,
  }),
  memory: Type.Object({
    total_mb: Unknown(OfTheMachine),
    used_mb: Unknown('By all programs of the machine, without caches. null: unknown.'),
    containers_mb: Unknown('By containers alone. null: unknown.'),
    promised_mb: Type.Integer({ description: 'The limits of running containers.' }),
    promised_all_mb: Type.Integer({ description: 'The limits of all containers.' }),
    overcommit: Ratio,
  }),
  disk: Type.Object({
    promised_mb: Type.Integer({ description: 'The disk sizes of all containers.' }),
    overcommit: Nullable(Type.Number({ description: 'For each MB of the first disk.' })),
  }),
  disks: Type.Array(
    Type.Object({
      kind: OneOf(['host', 'engine'], {
        description: '`engine`: it has only images and what is outside of volumes.',
      }),
      total_mb: Mb,
      used_mb: Mb,
      free_mb: Mb,
      reserve_mb: Type.Integer({ description: 'With less free space nothing new can be made.' }),
      short: Type.Boolean({ description: 'Whether less than the reserve is free.' }),
    }),
    { description: 'Empty for an engine on another machine.' },
  ),
  containers: Type.Object({
    creating: Count,
    starting: Count,
    running: Count,
    stopping: Count,
    stopped: Count,
    updating: Count,
    failed: Count,
  }),
  images: Nullable(Type.Object({ count: Count, size_mb: Mb })),
  warnings: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
});

export const CapacityBody = NamedObject('Capacity', {
  time: Timestamp,
  nodes: Type.Array(NodeBody),
  stored: Type.Object({
    volumes: Amount,
    deleted_containers: Amount,
    snapshots: Amount,
    deleted_snapshots: Amount,
    recordings: Amount,
    warm_pool: Type.Object({ ready: Count, making: Count }),
  }),
});

export const UsageBody = NamedObject('Usage', {
  user_id: Type.String(),
  username: Type.String(),
  email: Nullable(Type.String({ description: 'null for a guest.' })),
  tier: Type.String(),
  containers: Type.Integer({ description: 'Without deleted ones and agents.' }),
  running: Count,
  max_containers: Count,
  cpu_millicores: Type.Integer({ description: 'The limits of the containers.' }),
  cpu_used_millicores: Unknown('null: unknown.'),
  memory_mb: Type.Integer({ description: 'The limits of the containers.' }),
  memory_used_mb: Unknown('null: unknown.'),
  disk_mb: Type.Integer({ description: 'The disk sizes of the containers.' }),
  disk_used_mb: Type.Integer({ description: 'In and outside of volumes, as last measured.' }),
  kept: Type.Integer({ description: 'Deleted containers and snapshots that are kept.' }),
  kept_mb: Mb,
  snapshots: Count,
  snapshot_mb: Mb,
  recordings: Count,
  recording_bytes: Type.Integer(),
  terminals: Type.Integer({ description: 'Open ones.' }),
  tokens: Type.Integer({ description: 'Live ones.' }),
  last_seen_at: Nullable(Timestamp),
});

export const UsageList = NamedObject('UsageList', { usage: Type.Array(UsageBody), next_cursor: nextCursor });

export const UsageQuery = listQuery(
  [
    'username',
    'containers',
    'running',
    'cpu_millicores',
    'cpu_used_millicores',
    'memory_mb',
    'memory_used_mb',
    'disk_mb',
    'disk_used_mb',
    'kept_mb',
    'snapshot_mb',
    'recording_bytes',
    'terminals',
    'tokens',
    'last_seen_at',
  ],
  ['username', 'tier'],
);

export type CapacityBody = Static<typeof CapacityBody>;
export type NodeBody = Static<typeof NodeBody>;
export type UsageBody = Static<typeof UsageBody>;
