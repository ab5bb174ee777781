import { statfs } from 'node:fs/promises';
import type { HostSpace } from '../../domain/disk.ts';

/** Of the file systems of these folders, the one with least room; null when none can be looked at. */
export async function hostSpace(folders: readonly string[]): Promise<HostSpace | null> {
  const spaces = await Promise.all(folders.map(spaceAt));
  const known = spaces.filter((space) => space !== null).sort((a, b) => a.freeBytes - b.freeBytes);
  return known[0] ?? null;
}

async function spaceAt(folder: string): Promise<HostSpace | null> {
  return await statfs(folder).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
    () => null,
  );
}
