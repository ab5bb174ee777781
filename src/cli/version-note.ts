import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cli } from './cli.ts';
import { stateFolder } from './state/state-folder.ts';
import { VERSION } from './version.ts';

const EACH_MS = 86_400_000;
const LIMIT_MS = 1500;

type Noted = { readonly checkedAt: number; readonly announced: string | null };
type Notes = Readonly<Record<string, Noted>>;

/** Whether one version is before another; those that are no versions are not. */
export function olderThan(one: string, other: string): boolean {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  if (a === null || b === null) return false;
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

const numbersOf = (version: string): readonly number[] | null => {
  const found = /^(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? null : found.slice(1).map(Number);
};

/**
 * Asks the service's version once a day, and says once for each newer one that this command is older. Never a reason
 * for a command to fail.
 */
export async function noteNewerVersion({
  io,
  notify,
  berth,
}: Pick<Cli, 'io' | 'notify' | 'berth'>): Promise<void> {
  try {
    const { server } = berth();
    const file = notesFile(io.env);
    const notes = readNotes(file);
    const before = notes[server];
    if (before !== undefined && Date.now() - before.checkedAt < EACH_MS) return;
    const version = await berth().version({ signal: AbortSignal.timeout(LIMIT_MS) });
    const isNew = olderThan(VERSION, version) && before?.announced !== version;
    if (isNew)
      notify(
        `The service has version ${version}, this command ${VERSION}. Install it again from ${server}/settings/tokens`,
      );
    const announced = isNew ? version : (before?.announced ?? null);
    writeNotes(file, { ...notes, [server]: { checkedAt: Date.now(), announced } });
  } catch {
    // without an answer or a folder to write in there is nothing to say
  }
}

const notesFile = (env: Cli['io']['env']): string => path.join(stateFolder(env), 'versions.json');

function readNotes(file: string): Notes {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Notes;
  } catch {
    return {};
  }
}

function writeNotes(file: string, notes: Notes): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(notes), { mode: 0o600 });
}
