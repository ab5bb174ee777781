import type { ContainerDeps } from '../container-deps.ts';

/**
 * Removes private images without a row: replaced ones, and those of rolled-back operations and removed snapshots. Busy rows are skipped,
 * since an image is made before it is recorded. Images of unknown rows stay, since a restored database may be replaced
 * by a newer one.
 */
export async function removeUnusedImages({
  storage,
  runtime,
  log,
}: Pick<ContainerDeps, 'storage' | 'runtime' | 'log'>): Promise<void> {
  // Images before rows: one made in between is not in the listing.
  const images = await runtime.layerImages();
  if (images.length === 0) return;
  const { containers, operations, layerImages, snapshots, snapshotRetention } = storage.repositories;
  const busy = await operations.busy();
  const readInUse = async (): Promise<ReadonlySet<string>> =>
    new Set([...(await layerImages.inUse()), ...(await snapshotRetention.images())]);
  const inUse = await readInUse();
  for (const image of images) {
    if (busy.has(image.dbId) || (image.reference !== null && inUse.has(image.reference))) continue;
    const snapshot = await snapshots.findAny(image.dbId);
    if (snapshot?.state === 'creating') continue;
    if (snapshot === null && (await containers.findAny(image.dbId)) === null) continue;
    // Read once more after the row: a snapshot may have become ready since.
    if (image.reference !== null && (await readInUse()).has(image.reference)) continue;
    log.info({ dbId: image.dbId, image: image.imageId }, 'removing an unused image');
    await runtime.removeCaptured(image);
  }
}
