import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';

const RETRY_MS = 50;
const GIVE_UP_MS = 20_000;
/** Longer than a refresh may last: the lock of a killed process. */
const STALE_MS = 15_000;

/** Runs `work` while no other process holds the lock file. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  await take(file);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

async function take(file: string): Promise<void> {
  const until = Date.now() + GIVE_UP_MS;
  while (!tryTake(file)) {
    if (Date.now() > until) {
      throw new CliError(`Another berth process has locked ${file}.`, {
        next: 'If none is running, remove the file.',
      });
    }
    await delay(RETRY_MS);
  }
}

function tryTake(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new CliError(`${file} cannot be written: ${(error as Error).message}`);
    }
    const lock = statSync(file, { throwIfNoEntry: false });
    if (lock !== undefined && Date.now() - lock.mtimeMs > STALE_MS) rmSync(file, { force: true });
    return false;
  }
}
