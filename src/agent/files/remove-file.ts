import { lstat, rm, unlink } from 'node:fs/promises';
import type { FileEntry } from '../../domain/containers/files.ts';
import { FileFault } from './file-fault.ts';
import { entryOf } from './list-folder.ts';
import { pathOf, resolvePath } from './resolve-path.ts';

/** Removes a file, a link, or a folder with its contents. The home itself stays. */
export async function removeFile(home: string, wanted: string): Promise<void> {
  const resolved = await resolvePath(home, wanted);
  if (resolved.name === '') throw new FileFault('file_in_the_way');
  const found = await lstat(pathOf(resolved));
  if (found.isDirectory()) await rm(pathOf(resolved), { recursive: true });
  else await unlink(pathOf(resolved));
}

/** The entry at a path; of the home its own. */
export async function statFile(home: string, wanted: string): Promise<FileEntry> {
  const { folder, name } = await resolvePath(home, wanted);
  const entry = await entryOf(folder, name === '' ? '.' : name);
  if (entry === null) throw new FileFault('file_not_found');
  return entry;
}
