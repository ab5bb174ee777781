import { type Static, Type } from '@sinclair/typebox';
import { FewNamed, Flag, NamedClosed, NamedObject, OneOf, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';
import { ContainerBody } from './containers.ts';
import { labelQuery, lifetimeFields } from './lifetime.ts';

const MAX_LABELS = 32;

export const SnapshotRequestBody = NamedClosed('SnapshotRequest', {
  name: Type.String({ description: 'Unique among your snapshots. Like the name of a container.' }),
  note: Type.Optional(Text({ maxLength: 1000 })),
  labels: Type.Optional(FewNamed(Type.String(), MAX_LABELS)),
});

export const SnapshotBody = NamedObject('Snapshot', {
  id: Type.String(),
  name: Type.String(),
  note: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  status: OneOf(['creating', 'ready', 'failed']),
  container_id: Type.String({ description: 'db_id of the container, which may no longer exist.' }),
  container_name: Type.String(),
  image: Type.String(),
  role: Type.String(),
  resources: Type.Object({
    memory_mb: Type.Integer(),
    cpu_shares: Type.Integer(),
    disk_mb: Type.Integer(),
  }),
  layer_mb: Type.Integer({ description: 'What is outside /workspace. Estimated until it is ready.' }),
  volume_mb: Type.Integer({ description: 'What is in /workspace. Estimated until it is ready.' }),
  created_at: Timestamp,
  deleted_at: Type.Optional(Timestamp),
});

export const SnapshotRestoreBody = NamedClosed('SnapshotRestore', {
  name: Type.Optional(Type.String({ description: 'Another name, where its own is in use again.' })),
});

export const SnapshotList = NamedObject('SnapshotList', {
  snapshots: Type.Array(SnapshotBody),
  next_cursor: nextCursor,
});

export const SnapshotListQuery = Type.Composite(
  [
    listQuery(['created_at', 'name', 'container_name'], ['name', 'status']),
    Type.Object({
      container: Type.Optional(Type.String({ maxLength: 64, description: 'db_id of a container' })),
      label: labelQuery,
      deleted: Flag({ description: 'Whether to list deleted ones that can be restored.' }),
    }),
  ],
  { additionalProperties: false },
);

export const DeletedSnapshotBody = NamedObject('SnapshotDeleted', {
  id: Type.String(),
  name: Type.String(),
  deleted: Type.Literal(true),
});

export const ForkRequestBody = NamedClosed('ForkRequest', {
  name: Type.Optional(
    Type.String({ description: 'Without one, from the container’s name. Several forks are numbered.' }),
  ),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, description: 'Default 1.' })),
  ...lifetimeFields,
});

export const ForksBody = NamedObject('Forks', {
  containers: Type.Array(ContainerBody, {
    description: 'One that could not be made has status `deleted`.',
  }),
});

export type SnapshotBody = Static<typeof SnapshotBody>;
export type SnapshotRequestBody = Static<typeof SnapshotRequestBody>;
export type ForkRequestBody = Static<typeof ForkRequestBody>;
