import { mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { prepareCluster } from './cluster.ts';
import { clearStaleLock, commandLineOf, findPostmaster, serves, stopPostmaster } from './postmaster.ts';
import { launch, ready, serverArguments, socketDirectory, socketUrl } from './server.ts';

export type EmbeddedPostgres = {
  /** For `pg`, over a socket of its own; the database is `postgres` when none is named. */
  readonly url: (database?: string) => string;
  readonly pid: number;
  /** Whether its process is there; a server that was killed is started again by another call. */
  readonly isAlive: () => boolean;
  /** Ends the server and waits until it has; calling it again is harmless. */
  readonly stop: () => Promise<void>;
};

/**
 * A private PostgreSQL whose data is below `root`, made at the first call. A server that a killed process left there
 * is taken over. The caller holds the lock of the data directory: two callers would share one server, and the first
 * to stop would stop it for both. `durable: false` is for tests: a crash of the machine may lose data. With `signal` it
 * gives up, and leaves no process.
 */
export async function startEmbedded(
  root: string,
  { durable = true, signal }: { readonly durable?: boolean; readonly signal?: AbortSignal } = {},
): Promise<EmbeddedPostgres> {
  await mkdir(root, { recursive: true, mode: 0o711 });
  const place = await realpath(root);
  const cluster = await prepareCluster(place, durable, signal);
  const sockets = await socketDirectory(place, cluster.account.uid);
  const args = serverArguments(cluster.data, sockets, durable);
  const url = (database = 'postgres') => socketUrl(sockets, database);
  const pid =
    (await takeOver(cluster.data, [cluster.server, ...args], url(), signal)) ??
    (await launch(cluster, args, path.join(place, 'postgres.log'), url(), signal));
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

/** The address of the server of `root` that another process has started. */
export async function runningEmbeddedUrl(root: string): Promise<string> {
  const place = await realpath(root);
  const { uid } = await stat(path.join(place, 'pgdata'));
  return socketUrl(await socketDirectory(place, uid), 'postgres');
}

/** The server that is already there, if it is the one we would start; any other is stopped, and the way is clear. */
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
