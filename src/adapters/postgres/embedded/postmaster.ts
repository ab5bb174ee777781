import { readdirSync, readlinkSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pollUntil } from '../../../concurrency/poll.ts';

/** The process that serves `data`, whichever process started it, or null. `data` is a real path. */
export async function findPostmaster(data: string): Promise<number | null> {
  const pid = await recordedPid(data);
  return pid !== null && serves(pid, data) ? pid : null;
}

/** Its command line, to compare with the one we would use. */
export async function commandLineOf(pid: number): Promise<readonly string[]> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return line.split('\0').slice(0, -1);
}

/** PostgreSQL's working directory is its data directory, so a reused or dead process number cannot match. */
export function serves(pid: number, data: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}

/**
 * Removes a dead server's lock file (a machine crash leaves one, and its number may be reused). Waits for orphaned
 * server processes, which have the shared memory, to end.
 */
export async function clearStaleLock(data: string): Promise<void> {
  const orphans = () => processes().filter((pid) => serves(pid, data));
  if (!(await pollUntil(async () => orphans().length === 0, { withinMs: 15_000 }))) {
    throw new Error(`orphaned PostgreSQL processes still use ${data}: ${orphans().join(', ')}`);
  }
  await rm(path.join(data, 'postmaster.pid'), { force: true });
}

type Step = readonly [signal: NodeJS.Signals, patienceMs: number];
/** Fast shutdown, then an immediate one (recovery at the next start) when that takes too long. */
const IN_ORDER: readonly Step[] = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 10_000],
];
/** A server without connections has nothing to finish. */
export const LAUNCH_FAILED: readonly Step[] = [
  ['SIGINT', 1_000],
  ['SIGQUIT', 3_000],
  ['SIGKILL', 3_000],
];

/** Ends the server by these signals, in order. */
export async function stopPostmaster(data: string, pid: number, steps = IN_ORDER): Promise<void> {
  for (const [signal, patienceMs] of steps) {
    if (!serves(pid, data)) return;
    process.kill(pid, signal);
    if (await pollUntil(async () => !serves(pid, data), { withinMs: patienceMs })) return;
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop`);
}

async function recordedPid(data: string): Promise<number | null> {
  const text = await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 0 ? pid : null;
}

const processes = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
