import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readFile, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startChild } from '../../child-process.ts';
import { type Cluster, cleanEnvironment } from './cluster.ts';
import { LAUNCH_FAILED, stopPostmaster } from './postmaster.ts';

const LOG_ROTATE_BYTES = 8 * 1024 * 1024;
// Recovery replays at most max_wal_size, in seconds; more time for a slow disk.
const READY_WITHIN_MS = 120_000;
// sun_path has 108 bytes, including the final NUL.
const SOCKET_PATH_BYTES = 107;

/** A socket folder for PostgreSQL and us only, with a path that fits a socket address. */
export async function socketDirectory(root: string, uid: number): Promise<string> {
  const short = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const parent = process.getuid?.() === 0 ? '/run' : tmpdir();
  const directory = fits(path.join(root, 'run'))
    ? path.join(root, 'run')
    : path.join(parent, `berth-pg-${short}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await lstat(directory);
  if (!found.isDirectory() || ![0, uid, process.getuid?.()].includes(found.uid)) {
    throw new Error(`${directory} belongs to another user: remove it, or choose a shorter BERTH_DATA_DIR`);
  }
  await chmod(directory, 0o700);
  if (process.getuid?.() === 0) await chown(directory, uid, uid);
  return directory;
}

const fits = (directory: string): boolean =>
  Buffer.byteLength(path.join(directory, '.s.PGSQL.5432')) <= SOCKET_PATH_BYTES;

export const socketUrl = (directory: string, database: string): string =>
  `postgres://postgres@/${database}?host=${encodeURIComponent(directory)}`;

/** The server's settings; clients set those of their sessions. */
export function serverArguments(data: string, sockets: string, durable: boolean): readonly string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    max_connections: '200',
    shared_buffers: '128MB',
    max_wal_size: '512MB',
    max_logical_replication_workers: '0',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // clients get the errors of their statements; the file is for the server's own messages
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/**
 * Starts the server in its own session, so that Ctrl-C does not end it before its users have finished. Its messages go
 * to `logFile`. Resolves when it accepts connections; the signal stops it.
 */
export async function launch(
  cluster: Cluster,
  args: readonly string[],
  logFile: string,
  url: string,
  signal?: AbortSignal,
): Promise<number> {
  signal?.throwIfAborted();
  const child = await detached(cluster, args, logFile);
  const pid = child.pid ?? 0;
  try {
    const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
    await ready(url, () => isAlive() && signal?.aborted !== true);
  } catch (error) {
    await stopPostmaster(cluster.data, pid, LAUNCH_FAILED);
    signal?.throwIfAborted();
    throw new Error(`PostgreSQL did not start: ${await lastLines(logFile)}`, { cause: error });
  }
  return pid;
}

async function detached(
  { server, account, data }: Cluster,
  args: readonly string[],
  logFile: string,
): Promise<ChildProcess> {
  if (((await stat(logFile).catch(() => null))?.size ?? 0) > LOG_ROTATE_BYTES)
    await rename(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  const { file, args: argv } = account.command(server, args);
  const child = await startChild(file, argv, {
    cwd: data,
    env: cleanEnvironment,
    detached: true,
    stdio: ['ignore', log, log],
  }).finally(() => closeSync(log));
  child.unref();
  return child;
}

/** Resolves when the server accepts us; rejects when it refuses, is no longer `alive`, or takes two minutes. */
export async function ready(url: string, alive: () => boolean): Promise<void> {
  for (const deadline = performance.now() + READY_WITHIN_MS; ; await sleep(15)) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      await client.end().catch(() => {});
      const refused = error instanceof pg.DatabaseError && error.code?.startsWith('28');
      if (refused || !alive() || performance.now() > deadline) throw error;
    }
  }
}

async function lastLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-5).join('\n') || 'its log is empty';
}
