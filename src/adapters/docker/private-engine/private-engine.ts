import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type Docker from 'dockerode';
import { poll, pollUntil } from '../../../concurrency/poll.ts';
import { programEnvironment, startChild } from '../../child-process.ts';
import { type EngineVersion, probe } from '../engine/engine-probe.ts';
import {
  adminPath,
  type HostProcess,
  signal as kill,
  lastLines,
  mountsBelow,
  processes,
  readText,
  run,
  runOrThrow,
  startTicks,
  which,
} from '../host/host-commands.ts';
import { raiseLimits } from '../kernel/kernel-limits.ts';
import { defaultRouteMtu, ensureBridge } from '../network/host-network.ts';
import { mountPool, type PoolFault, type PoolRequest, poolFault } from './engine-pool.ts';
import { daemonArgs, type Layout } from './private-engine-paths.ts';

export type PrivateEngine = {
  readonly docker: Docker;
  readonly version: EngineVersion;
  /** Containers have their own user namespace: their root is unprivileged on this machine. */
  readonly remapped: boolean;
  /** Why its data shares a file system; null when it has its own. */
  readonly poolFault: PoolFault;
  /** Another live process started this engine and will stop it. */
  readonly shared: boolean;
};

const START_SECONDS = 20;
const ADOPT_SECONDS = 5;
/** From the abort signal; what follows must end within ten seconds. */
const GIVE_UP_MS = 3_000;
const MAX_LOG_BYTES = 10_000_000;

/**
 * Starts the private engine, or adopts the one that a killed run left. `remap` null: user namespaces if available.
 * Throws the end of dockerd's log when it does not start. `signal` aborts, except for an engine that answers soon
 * after.
 */
export async function startPrivateEngine(
  at: Layout,
  pool: PoolRequest,
  remap: boolean | null,
  progress: (message: string) => void,
  signal?: AbortSignal,
): Promise<PrivateEngine> {
  const shared = await claim(at);
  await raiseLimits();
  const adopted = await adopt(at);
  if (adopted !== null) return { ...adopted, poolFault: await poolFault(at), shared };
  signal?.throwIfAborted();
  progress('starting a private container engine');
  const fault = await prepare(at, pool);
  return { ...(await launch(at, remap ?? (await canRemap()), signal)), poolFault: fault, shared: false };
}

/** Whether this machine allows user namespaces and has what dockerd needs for id mapping. */
async function canRemap(): Promise<boolean> {
  const [unshared, adduser] = await Promise.all([run('unshare', ['--user', 'true']), which('useradd')]);
  return unshared.code === 0 && adduser !== null;
}

/** The dockerd of this data root, whichever process started it. */
export async function findDaemon(at: Layout): Promise<HostProcess | null> {
  const all = await processes();
  const isOurs = ({ argv }: HostProcess): boolean =>
    basename(argv[0] ?? '') === 'dockerd' && argv.includes(`--data-root=${at.dataRoot}`);
  return all.find(isOurs) ?? null;
}

type Running = Omit<PrivateEngine, 'shared' | 'poolFault'>;

async function adopt(at: Layout): Promise<Running | null> {
  const daemon = await findDaemon(at);
  if (daemon === null) return null;
  const engine = await answering(at, ADOPT_SECONDS, () => true);
  if (engine !== null) {
    const remapped = daemon.argv.some((arg) => arg.startsWith('--userns-remap'));
    return { ...engine, remapped };
  }
  // Hung: its containers survive, and the next one finds them.
  kill(daemon.pid, 'SIGKILL');
  await pollUntil(async () => (await startTicks(daemon.pid)) === null, { withinMs: 5_000 });
  return null;
}

/** A containerd whose dockerd was killed is ending too: the next dockerd would wait for it instead of its own. */
async function endContainerd(at: Layout): Promise<void> {
  const find = async (): Promise<readonly HostProcess[]> =>
    (await processes()).filter(
      ({ argv }) =>
        basename(argv[0] ?? '') === 'containerd' && argv.some((arg) => arg.startsWith(`${at.execRoot}/`)),
    );
  for (const { pid } of await find()) kill(pid, 'SIGKILL');
  await pollUntil(async () => (await find()).length === 0, { withinMs: 5_000 });
  await rm(join(at.execRoot, 'containerd', 'containerd.pid'), { force: true });
}

async function prepare(at: Layout, pool: PoolRequest): Promise<PoolFault> {
  await endContainerd(at);
  await mkdir(at.home, { recursive: true, mode: 0o700 });
  await mkdir(at.dataRoot, { recursive: true, mode: 0o711 });
  await rm(at.pidFile, { force: true });
  await writeFile(at.config, '{}\n', { mode: 0o600 });
  const fault = await mountData(at, pool);
  await ensureBridge(at.bridge, at.hash, await defaultRouteMtu());
  const size = await stat(at.log).then(
    (file) => file.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(at.log, `${at.log}.1`);
  return fault;
}

/** Mounts the engine's data. A killed engine's mount stays, as its containers use it. */
async function mountData(at: Layout, pool: PoolRequest): Promise<PoolFault> {
  if ((await mountsBelow(at.run)).includes(at.dataRoot)) return await poolFault(at);
  const fault = await mountPool(at, pool);
  if (fault === null) return null;
  await mkdir(at.storage, { recursive: true, mode: 0o711 });
  await runOrThrow('mount', ['--bind', at.storage, at.dataRoot]);
  return fault;
}

async function launch(at: Layout, remap: boolean, signal?: AbortSignal): Promise<Running> {
  const log = openSync(at.log, 'a', 0o600);
  const env = { ...programEnvironment(), PATH: adminPath() };
  // Its own session: Ctrl-C must not reach it before Berth has closed.
  const child = await startChild('dockerd', daemonArgs(at, await defaultRouteMtu(), remap), {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: '/',
    env,
  }).finally(() => closeSync(log));
  let ended = false;
  child.once('exit', () => (ended = true));
  child.unref();
  const isGivenUp = someTimeAfter(signal, GIVE_UP_MS);
  const engine = await answering(at, START_SECONDS, () => !ended && !isGivenUp());
  if (engine !== null) return { ...engine, remapped: remap };
  if (child.pid !== undefined && !ended) kill(child.pid, 'SIGKILL');
  signal?.throwIfAborted();
  throw new Error(`dockerd did not start: ${lastLines(await readFile(at.log, 'utf8'), 2)}`);
}

/** A daemon about to start is awaited even then, and stopped in order once it answers. */
function someTimeAfter(signal: AbortSignal | undefined, ms: number): () => boolean {
  let isOver = false;
  const begin = (): unknown => setTimeout(() => (isOver = true), ms).unref();
  if (signal?.aborted) begin();
  else signal?.addEventListener('abort', begin, { once: true });
  return () => isOver;
}

async function answering(
  at: Layout,
  seconds: number,
  alive: () => boolean,
): Promise<Omit<Running, 'remapped'> | null> {
  const probeOnce = async () => {
    const answer = await probe({ socketPath: at.socket }, 2);
    return answer.answers || !alive() ? answer : null;
  };
  const answer = await poll(probeOnce, { withinMs: seconds * 1000 });
  return answer?.answers ? { docker: answer.docker, version: answer.version } : null;
}

/** Records which process stops this engine; true when another live process does. */
async function claim(at: Layout): Promise<boolean> {
  await mkdir(at.run, { recursive: true, mode: 0o711 });
  const [pid, ticks] = ((await readText(at.owner)) ?? '').trim().split(' ');
  const isOther = Number(pid) > 0 && Number(pid) !== process.pid;
  if (isOther && ticks !== undefined && (await startTicks(Number(pid))) === ticks) return true;
  await writeFile(at.owner, `${process.pid} ${await startTicks(process.pid)}\n`);
  return false;
}
