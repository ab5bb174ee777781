import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { ClaimedVolume } from '../../../ports/containers/retention/volume-retention-repository.ts';
import type { ContainerDeps } from '../container-deps.ts';
import type { Checkpoint } from '../operations/operation-deps.ts';

/**
 * Removes volumes of deleted containers: condemns those with expired retention and removes them a day later. Repeats
 * half-done work, also of a dead process. Never part of a request.
 */
export const collectVolumes =
  (deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'log'>, checkpoint: Checkpoint) =>
  async (): Promise<void> => {
    const { retention, settings } = deps.storage.repositories;
    const { retentionDays } = await settings.read();
    await retention.review(retentionDays);
    try {
      const listed = await deps.runtime.list();
      for (const claimed of await retention.claim(retentionDays)) {
        // The reconciler first removes a container that may use it.
        if (listed.some(({ dbId }) => dbId === claimed.dbId)) continue;
        await collect(deps, claimed, checkpoint).catch((err: unknown) =>
          deps.log.warn({ err, dbId: claimed.dbId }, 'could not remove a volume; retrying later'),
        );
      }
    } catch (error) {
      // readiness reports a silent engine
      if (!(error instanceof RuntimeUnavailable)) throw error;
    }
  };

async function collect(
  { storage, runtime, log }: Pick<ContainerDeps, 'storage' | 'runtime' | 'log'>,
  { dbId, ownerId, volume }: ClaimedVolume,
  checkpoint: Checkpoint,
): Promise<void> {
  await checkpoint('collect before remove_volume');
  await runtime.removeVolume(volume);
  await checkpoint('collect after remove_volume');
  await storage.inTransaction(async (tx) => {
    if (!(await tx.retention.markRemoved(dbId))) return;
    // The reconciler then removes the private image.
    await tx.layerImages.put(dbId, null);
    const nowhere = { ipAddress: '', userAgent: '' };
    await tx.audit.append({ userId: ownerId, action: 'volume_removed', ...nowhere, details: dbId });
  });
  log.info({ dbId, volume }, 'removed the volume of a deleted container');
}
