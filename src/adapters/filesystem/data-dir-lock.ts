import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';

export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';

  constructor(directory: string, pid: number | null) {
    const holder = pid === null ? 'another process' : `process ${pid}`;
    super(`${directory} is in use by ${holder}: stop it, or set BERTH_DATA_DIR to another folder`);
  }
}

export type DataDirLock = { readonly release: () => void };

/**
 * Locks `directory` (created if missing) for this process, or throws DataDirInUseError. The kernel releases the lock
 * when the process ends. Child processes do not inherit it.
 */
export function lockDataDir(directory: string): DataDirLock {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, 'lock');
  const descriptor = openSync(file, 'a+', 0o600);
  try {
    if (!flock(descriptor)) throw new DataDirInUseError(directory, holderOf(file));
    // only for the message to a second process
    ftruncateSync(descriptor);
    writeSync(descriptor, `${process.pid}\n`);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  let isLocked = true;
  return {
    release: () => {
      if (isLocked) closeSync(descriptor);
      isLocked = false;
    },
  };
}

/** The same; null while another process has it. */
export function lockDataDirOrNull(directory: string): DataDirLock | null {
  try {
    return lockDataDir(directory);
  } catch (error) {
    if (error instanceof DataDirInUseError) return null;
    throw error;
  }
}

/** The lock belongs to the open file, which flock(1) shares with us while it locks it. */
function flock(descriptor: number): boolean {
  const { error, status } = spawnSync('flock', ['--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (error) throw new Error(`cannot run flock, of the package util-linux: ${error.message}`);
  if (status !== 0 && status !== 1) throw new Error(`flock failed with exit code ${status}`);
  return status === 0;
}

function holderOf(file: string): number | null {
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  return pid > 0 ? pid : null;
}
