import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { ClaimedSnapshot } from '../../../ports/containers/snapshots/snapshot-retention-repository.ts';
import type { ContainerDeps } from '../container-deps.ts';
import type { Checkpoint } from '../operations/operation-deps.ts';

/**
 * Removes the volumes of snapshots that are deleted, failed, or whose forks are made; the reconciler then removes their
 * images. Repeats half-done work, also of a dead process. Never part of a request.
 */
export const collectSnapshots =
  (deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'log'>, checkpoint: Checkpoint) =>
  async (): Promise<void> => {
    const { snapshotRetention: retention, settings } = deps.storage.repositories;
    const { retentionDays } = await settings.read();
    await retention.review(retentionDays);
    for (const claimed of await retention.claim(retentionDays)) {
      await collect(deps, claimed, checkpoint).catch((err: unknown) => {
        // readiness reports a silent engine
        if (err instanceof RuntimeUnavailable) return;
        deps.log.warn({ err, snapshot: claimed.id }, 'could not remove a snapshot; retrying later');
      });
    }
  };

async function collect(
  { storage, runtime, log }: Pick<ContainerDeps, 'storage' | 'runtime' | 'log'>,
  { id, ownerId, volume }: ClaimedSnapshot,
  checkpoint: Checkpoint,
): Promise<void> {
  await checkpoint('collect before remove_snapshot');
  await runtime.removeVolume(volume);
  await checkpoint('collect after remove_snapshot');
  await storage.inTransaction(async (tx) => {
    if (!(await tx.snapshotRetention.markRemoved(id))) return;
    const nowhere = { ipAddress: '', userAgent: '' };
    const removed = await tx.snapshots.findAny(id);
    if (removed?.forkIds === null)
      await tx.audit.append({ userId: ownerId, action: 'snapshot_removed', ...nowhere, details: id });
  });
  log.info({ snapshot: id, volume }, 'removed the volume of a snapshot');
}
