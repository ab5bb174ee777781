import { existsSync } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

const DATABASE = 'postgres';
/** A database of which files are missing must not be started by a repeated removal. */
const REMOVED_DATABASE = 'postgres.removed';

/**
 * Everything that Berth makes in its data folder. The record of the engine goes first: without it a repeated removal
 * needs no database. The entries by which the folder is known go last.
 */
const BEFORE_DATABASE = ['engine', 'recordings', 'volumes', 'secret.json', REMOVED_DATABASE];
const LAST = [REMOVED_DATABASE, 'replica', 'lock'];

/** Removes Berth's files, and the folder when nothing else is in it. Returns the names of what is left. */
export async function removeDataFolder(dataDir: string): Promise<readonly string[]> {
  const remove = (name: string): Promise<void> =>
    rm(path.join(dataDir, name), { recursive: true, force: true });
  for (const name of BEFORE_DATABASE) await remove(name);
  if (existsSync(path.join(dataDir, DATABASE)))
    await rename(path.join(dataDir, DATABASE), path.join(dataDir, REMOVED_DATABASE));
  for (const name of LAST) await remove(name);
  const left = await readdir(dataDir);
  // A mount point cannot be removed from inside a container; its own remover does that.
  if (left.length === 0) await rmdir(dataDir).catch(() => {});
  return left;
}
