import type { ForkRequest } from '../../../../app/containers/snapshots/fork-container.ts';
import type { Snapshot, SnapshotRequest } from '../../../../domain/containers/snapshots/snapshot.ts';
import { bodyOf, fieldsOf, withCpuShares } from '../../replies/bodies.ts';
import {
  type ForkRequestBody,
  SnapshotBody,
  type SnapshotRequestBody,
} from '../../schema/containers/snapshots.ts';

const serializeSnapshot = bodyOf(SnapshotBody);

export const toSnapshotBody = ({ deletedAt, resources, ...snapshot }: Snapshot): SnapshotBody =>
  serializeSnapshot({
    ...snapshot,
    status: snapshot.state,
    containerId: snapshot.dbId,
    resources: withCpuShares(resources),
    ...(deletedAt === null ? {} : { deletedAt }),
  });

export const toSnapshotRequest = (body: SnapshotRequestBody): SnapshotRequest => ({
  note: '',
  labels: {},
  ...body,
});

export const toForkRequest = ({
  count = 1,
  name,
  labels,
  ephemeral = false,
  ...lifetime
}: ForkRequestBody): ForkRequest => ({
  count,
  ...(name === undefined ? {} : { name }),
  ...(labels === undefined ? {} : { labels }),
  isEphemeral: ephemeral,
  lifetime: fieldsOf(lifetime),
});
