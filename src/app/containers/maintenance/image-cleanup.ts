import type { ContainerDeps } from '../container-deps.ts';

/**
 * Removes the private images that no row is made of any more: replaced ones, and those of an operation that went back.
 * Busy rows are left alone, for an image is made before it is written down; so are images of rows that are not there, for
 * a database that was restored from an older copy may yet be replaced by a newer one.
 */
export async function removeUnusedImages({ storage, runtime, log }: ContainerDeps): Promise<void> {
  // Images before the rows: one that is made in between is not in the listing.
  const images = await runtime.snapshotImages();
  if (images.length === 0) return;
  const { containers, operations, snapshotImages } = storage.repositories;
  const [busy, inUse] = [await operations.busy(), await snapshotImages.inUse()];
  for (const image of images) {
    if (busy.has(image.dbId) || (image.reference !== null && inUse.has(image.reference))) continue;
    if ((await containers.findAny(image.dbId)) === null) continue;
    log.info({ dbId: image.dbId, image: image.imageId }, 'removing an unused image');
    await runtime.removeCaptured(image);
  }
}
