import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';

const RETRY_MS = 50;
const GIVE_UP_MS = 20_000;
const TOUCH_MS = 1_000;
/** A lock that was not touched for this long belongs to a killed process. */
const STALE_MS = 15_000;

/** Runs `work` while no other process holds the lock file. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const mark = randomUUID();
  await take(file, mark);
  const touching = setInterval(() => touch(file, mark), TOUCH_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    if (isOwn(file, mark)) rmSync(file, { force: true });
  }
}

/** Another process may have taken it while this one was suspended. */
function isOwn(file: string, mark: string): boolean {
  try {
    return readFileSync(file, 'utf8') === mark;
  } catch {
    return false;
  }
}

function touch(file: string, mark: string): void {
  if (!isOwn(file, mark)) return;
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // It was removed meanwhile.
  }
}

async function take(file: string, mark: string): Promise<void> {
  const until = performance.now() + GIVE_UP_MS;
  while (!tryTake(file, mark)) {
    if (performance.now() > until) {
      throw new CliError(`Another berth process has locked ${file}.`, {
        next: 'If none is running, remove the file.',
      });
    }
    await delay(RETRY_MS);
  }
}

function tryTake(file: string, mark: string): boolean {
  try {
    writeFileSync(file, mark, { flag: 'wx', mode: 0o600 });
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
