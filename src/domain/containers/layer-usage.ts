import { toMb } from './disk-quota.ts';

/** What a container has outside its volume. */
export type LayerUse = {
  /** Written by itself since it was made. */
  readonly ownBytes: number;
  /** In the private image that it was made of: carried over from earlier ones. */
  readonly snapshotImageBytes: number;
};

export const layerMb = ({ ownBytes, snapshotImageBytes }: LayerUse): number =>
  toMb(ownBytes + snapshotImageBytes);

/** What an engine keeps for each file besides its content: an empty one takes this much of what there is of file entries. */
const BYTES_OF_A_FILE = 8192;

/** A container cannot use up the files that a file system can have with files that hold nothing. */
export const bytesOf = (contentBytes: number, files: number): number =>
  Math.max(contentBytes, files * BYTES_OF_A_FILE);

/** Shown with a container that was stopped for its layer. */
export const overLayerReason = (usedMb: number, allowedMb: number): string =>
  `over its limit outside /workspace: ${usedMb} of ${allowedMb} MB. Start it and remove files, or change its limits to recreate it`;

/** Shown with the container that was stopped because a file system ran full and it had written most of late. */
export const filledReason = (grewMb: number): string =>
  `the host ran out of disk space, and this container had just written the most: ${grewMb} MB. Remove files, then start it`;

/** Beside the reason, when it was over its allowance while others had no room left. */
export const layerRemovedReason = (reason: string): string =>
  `${reason}. The host ran out of disk space, so everything outside /workspace was removed`;
