import { existsSync } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { prepareCluster } from './cluster.ts';
import { clearStaleLock, commandLineOf, findPostmaster, serves, stopPostmaster } from './postmaster.ts';
import { launch, ready, serverArguments, socketDirectory, socketUrl } from './server.ts';

export type EmbeddedPostgres = {
  /** For `pg`, over a private socket; the default database is `postgres`. */
  readonly url: (database?: string) => string;
  readonly pid: number;
  /** Whether its process exists; another call restarts a killed one. */
  readonly isAlive: () => boolean;
  /** Stops the server and waits for its end; idempotent. */
  readonly stop: () => Promise<void>;
};

/**
 * A private PostgreSQL with its data below `root`, created by the first call. Takes over a server that a killed process
 * left. The caller must have the data directory's lock: two callers would share one server, and the first would stop it
 * for both. `durable: false` is for tests: a machine crash may lose data. `signal` aborts, leaving no process.
 */
export async function startEmbedded(
  root: string,
  { durable = true, signal }: { readonly durable?: boolean; readonly signal?: AbortSignal } = {},
): Promise<EmbeddedPostgres> {
  await mkdir(root, { recursive: true, mode: 0o711 });
  const directory = await realpath(root);
  const cluster = await prepareCluster(directory, durable, signal);
  const sockets = await socketDirectory(directory, cluster.account.uid);
  const args = serverArguments(cluster.data, sockets, durable);
  const url = (database = 'postgres') => socketUrl(sockets, database);
  const pid =
    (await takeOver(cluster.data, [cluster.server, ...args], url(), signal)) ??
    (await launch(cluster, args, path.join(directory, 'postgres.log'), url(), signal));
  let stopping: Promise<void> | undefined;
  return {
    url,
    pid,
    isAlive: () => serves(pid, cluster.data),
    stop: () => {
      stopping ??= stopPostmaster(cluster.data, pid);
      return stopping;
    },
  };
}

/** Whether `root` has a database already. */
export const hasEmbedded = (root: string): boolean => existsSync(path.join(root, 'pgdata', 'PG_VERSION'));

/** The address of a server of `root` started by another process. */
export async function runningEmbeddedUrl(root: string): Promise<string> {
  const directory = await realpath(root);
  const { uid } = await stat(path.join(directory, 'pgdata'));
  return socketUrl(await socketDirectory(directory, uid), 'postgres');
}

/** Adopts a running server if it has our command line; stops any other. */
async function takeOver(
  data: string,
  commandLine: readonly string[],
  url: string,
  signal?: AbortSignal,
): Promise<number | null> {
  const pid = await findPostmaster(data);
  if (pid !== null) {
    const same = (await commandLineOf(pid)).join('\0') === commandLine.join('\0');
    const usable =
      same &&
      (await ready(url, () => serves(pid, data) && signal?.aborted !== true).then(
        () => true,
        () => false,
      ));
    if (usable) return pid;
    await stopPostmaster(data, pid);
  }
  await clearStaleLock(data);
  return null;
}
