import { mkdir, writeFile } from 'node:fs/promises';
import { readText } from './docker/host/host-commands.ts';
import { type Layout, layoutOf } from './docker/private-engine/private-engine-paths.ts';

/** The engine that an installation chose first: another one would not have its containers and volumes. */
export type Recorded =
  | { readonly kind: 'external' | 'swarm' | 'kubernetes'; readonly endpoint: string }
  | { readonly kind: 'private'; readonly remap: boolean };

/** Null before the first choice. */
export async function readRecord(at: Layout): Promise<Recorded | null> {
  const text = await readText(at.record);
  try {
    return text === null ? null : (JSON.parse(text) as Recorded);
  } catch {
    return null;
  }
}

/** Records the engine unless one is recorded. */
export async function recordFirst(dataDir: string, recorded: Recorded): Promise<void> {
  const at = layoutOf(dataDir);
  if ((await readRecord(at)) === null) await writeRecord(at, recorded);
}

export async function writeRecord(at: Layout, recorded: Recorded): Promise<void> {
  await mkdir(at.home, { recursive: true, mode: 0o700 });
  await writeFile(at.record, `${JSON.stringify(recorded)}\n`, { mode: 0o600 });
}
