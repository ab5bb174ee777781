import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { eventually } from './patience.ts';

/** The prefix of all test folders, followed by their process's number. */
export const PREFIX = 'berth-test-';

/** A new folder outside the checkout, with a short path, removed when `t` ends. */
export function aFolder(t: Test, mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), `${PREFIX}${process.pid}-`)));
  chmodSync(folder, mode);
  // why: a program that is just ending may still write there
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** A new folder with these files, by path. */
export function aFolderOf(t: Test, files: Readonly<Record<string, string>>): string {
  const folder = aFolder(t);
  for (const [file, text] of Object.entries(files)) write(folder, file, text);
  return folder;
}

/** Writes a file, creating its folders. */
export function write(folder: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}

/** Removes a dead process's folder, and ends the servers working in it. */
export async function clearFolder(folder: string): Promise<void> {
  // an immediate shutdown of PostgreSQL: the data is removed too
  for (const pid of workingBelow(folder)) quit(pid);
  await eventually(
    () => workingBelow(folder),
    (left) => left.length === 0,
    { patienceMs: 5_000, everyMs: 50 },
  );
  // A killed process may write for a moment longer.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
}

/** Removes what killed runs left. A folder that cannot be removed, such as one with a mount, stays and is named. */
export async function clearDeadRuns(): Promise<void> {
  const alive = new Set(readdirSync('/proc'));
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? /\d+/.exec(name)?.[0] : undefined;
    const folder = path.join(tmpdir(), name);
    const isOurs = statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.();
    if (owner === undefined || !isOurs || alive.has(owner)) continue;
    await clearFolder(folder).catch((error: unknown) => console.error(`could not remove ${folder}:`, error));
  }
}

function quit(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const workingBelow = (folder: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && folderOfProcess(pid).startsWith(`${folder}/`));

function folderOfProcess(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
