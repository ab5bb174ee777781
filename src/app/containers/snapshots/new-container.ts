import { randomUUID } from 'node:crypto';
import type { Image } from '../../../domain/containers/catalogue.ts';
import type { EngineCapabilities } from '../../../domain/containers/engine-capabilities.ts';
import type { Resources, Tier } from '../../../domain/containers/resources.ts';
import type { Snapshot } from '../../../domain/containers/snapshots/snapshot.ts';
import type { FieldFaults } from '../../../domain/field-faults.ts';
import { type Caller, reaches } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';

type SnapshotUse = { readonly snapshotId?: string; readonly image?: string };

/** The snapshot that a container is to be made from; null without one, or when the caller has no such snapshot. */
export async function findSnapshot(
  snapshots: Repositories['snapshots'],
  { snapshotId }: SnapshotUse,
  caller: Caller,
): Promise<Snapshot | null> {
  if (snapshotId === undefined || !isUuid(snapshotId.toLowerCase())) return null;
  const found = await snapshots.find(snapshotId.toLowerCase(), caller.user.id);
  return found !== null && reaches(caller, found.dbId) ? found : null;
}

/** Whether the catalogue has the image still, and the engine snapshots. */
type Present = Pick<EngineCapabilities, 'takesSnapshots'> & { readonly hasImage: boolean };

/** Why the requested container cannot be made from the snapshot; empty when it can. */
export function snapshotUseFaults(
  { snapshotId, image }: SnapshotUse,
  snapshot: Snapshot | null,
  { hasImage, takesSnapshots }: Present,
  { diskMb }: Resources,
  { layerMb }: Tier,
): FieldFaults {
  if (snapshotId === undefined) return {};
  if (!takesSnapshots) return { snapshotId: 'is not possible: the engine has no snapshots' };
  if (snapshot === null) return { snapshotId: 'must be the id of one of your snapshots' };
  if (image !== undefined) return { image: 'must be absent with a snapshot' };
  if (!hasImage) return { snapshotId: 'cannot be used: its image is no longer in the catalogue' };
  if (snapshot.layerMb > layerMb)
    return {
      snapshotId: `cannot be used: it has ${snapshot.layerMb} MB outside /workspace, and the limit is ${layerMb} MB`,
    };
  if (diskMb < snapshot.volumeMb)
    return { diskMb: `must be at least ${snapshot.volumeMb}, the size of the files in the snapshot` };
  return {};
}

/** The image of the snapshot's container, even if its tag points to another image now. */
export const imageOf = (image: Image, snapshot: Snapshot | null): Image =>
  snapshot === null ? image : { ...image, reference: snapshot.image, digest: null, shell: snapshot.shell };

/** Locks the snapshot, so that it stays usable until the transaction ends. Refuses one that is gone or not ready. */
export async function lockSnapshot(
  tx: Repositories,
  snapshot: Snapshot | null,
  caller: Caller,
): AsyncResult<null> {
  if (snapshot === null) return ok(null);
  const now = await tx.snapshots.findForUpdate(snapshot.id, caller.user.id);
  if (now === null) return refuse({ code: 'snapshot_not_found' });
  return now.state === 'ready' ? ok(null) : refuse({ code: 'snapshot_not_ready' });
}

/** Records that the role's tools are in the snapshot, or that they must be set up: unfinished then, or another role. */
export async function recordRoleSetup(
  { roleSetups }: Repositories,
  dbId: string,
  role: string,
  snapshot: Snapshot,
): Promise<void> {
  const { roleSetupStatus: status } = snapshot;
  const isSame = role === snapshot.role;
  if (isSame && status === 'none') return;
  const setup =
    isSame && status === 'ready'
      ? ({ status, id: null, detail: null } as const)
      : ({ status: 'none', id: randomUUID(), detail: null } as const);
  await roleSetups.set(dbId, setup);
}
