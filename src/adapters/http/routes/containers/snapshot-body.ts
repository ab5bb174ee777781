import type { ForkRequest } from '../../../../app/containers/snapshots/fork-container.ts';
import type { Snapshot, SnapshotRequest } from '../../../../domain/containers/snapshots/snapshot.ts';
import type {
  ForkRequestBody,
  SnapshotBody,
  SnapshotRequestBody,
} from '../../schema/containers/snapshots.ts';
import { toLifetimeRequest } from './lifetime-body.ts';

export const toSnapshotBody = (snapshot: Snapshot): SnapshotBody => ({
  id: snapshot.id,
  name: snapshot.name,
  note: snapshot.note,
  labels: snapshot.labels,
  status: snapshot.state,
  container_id: snapshot.dbId,
  container_name: snapshot.containerName,
  image: snapshot.image,
  role: snapshot.role,
  resources: {
    memory_mb: snapshot.resources.memoryMb,
    cpu_shares: snapshot.resources.cpuMillicores,
    disk_mb: snapshot.resources.diskMb,
  },
  layer_mb: snapshot.layerMb,
  volume_mb: snapshot.volumeMb,
  created_at: snapshot.createdAt.toISOString(),
  ...(snapshot.deletedAt === null ? {} : { deleted_at: snapshot.deletedAt.toISOString() }),
});

export const toSnapshotRequest = ({
  name,
  note = '',
  labels = {},
}: SnapshotRequestBody): SnapshotRequest => ({
  name,
  note,
  labels,
});

export const toForkRequest = (body: ForkRequestBody): ForkRequest => ({
  count: body.count ?? 1,
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.labels === undefined ? {} : { labels: body.labels }),
  isEphemeral: body.ephemeral ?? false,
  lifetime: toLifetimeRequest(body),
});
