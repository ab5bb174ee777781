import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isUuid } from '../../../domain/uuid.ts';

/** UUID of the replica with this data folder; the same after a restart, so that it finds its own work. */
export async function loadReplica(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'replica');
  const kept = await readFile(file, 'utf8').catch(() => null);
  if (kept !== null && isUuid(kept)) return kept;
  const made = randomUUID();
  await writeFile(file, made);
  return made;
}
