import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

/** Everything that Berth makes in its data folder; last the entries that a repeated removal needs. */
const BERTH_ENTRIES = ['engine', 'recordings', 'volumes', 'secret.json', 'postgres', 'replica', 'lock'];

/** Removes Berth's files, and the folder when nothing else is in it. Returns the names of what is left. */
export async function removeDataFolder(dataDir: string): Promise<readonly string[]> {
  for (const name of BERTH_ENTRIES) await rm(path.join(dataDir, name), { recursive: true, force: true });
  const left = await readdir(dataDir);
  // A mount point cannot be removed from inside a container; its own remover does that.
  if (left.length === 0) await rmdir(dataDir).catch(() => {});
  return left;
}
