import { toMb } from '../disk-quota.ts';

/** A container's use outside its volume. */
export type LayerUse = {
  /** Written since it was made. */
  readonly ownBytes: number;
  /** In its private image: carried over from earlier containers. */
  readonly layerImageBytes: number;
};

export const layerMb = ({ ownBytes, layerImageBytes }: LayerUse): number => toMb(ownBytes + layerImageBytes);

/** The cost of a file besides its content: an empty one uses this much of a file system's inodes. */
const BYTES_OF_A_FILE = 8192;

/** Counts inodes too, so a container cannot use them up with empty files. */
export const bytesOf = (contentBytes: number, files: number): number =>
  Math.max(contentBytes, files * BYTES_OF_A_FILE);

/** Shown for a container stopped because of its layer. */
export const overLayerReason = (usedMb: number, allowedMb: number): string =>
  `over its limit outside /workspace: ${usedMb} of ${allowedMb} MB. Start it and remove files, or change its limits to recreate it`;

/** Shown for the container stopped because a file system ran full and it had recently written most. */
export const filledReason = (grewMb: number): string =>
  `the host ran out of disk space, and this container had just written the most: ${grewMb} MB. Remove files, then start it`;

/** Added to the reason when its layer was removed because others had no space. */
export const layerRemovedReason = (reason: string): string =>
  `${reason}. The host ran out of disk space, so everything outside /workspace was removed`;
