import { statfs } from 'node:fs/promises';
import type { HostSpace } from '../../../domain/containers/disk-quota.ts';

/** A folder on this machine that new data goes to. */
export type DataFolder = { readonly path: string; readonly isPool: boolean };

/** The file systems of these folders, as far as they can be looked at. */
export async function hostSpace(folders: readonly DataFolder[]): Promise<readonly HostSpace[]> {
  const spaces = await Promise.all(folders.map(spaceAt));
  return spaces.filter((space) => space !== null);
}

async function spaceAt({ path, isPool }: DataFolder): Promise<HostSpace | null> {
  return await statfs(path).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize, isPool }),
    () => null,
  );
}
