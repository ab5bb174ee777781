import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import Docker from 'dockerode';
import {
  ContainerNotRunning,
  ContainerPaused,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import { type WorkTurns, workTurns } from '../../engine-queues.ts';
import { type EngineSlots, engineSlots, type OnBehalf } from '../../engine-slots.ts';
import { limitAnswers } from './answer-limit.ts';
import { type ExecState, type IsPausing, processStarts } from './process-starts.ts';

/** In seconds. */
export const LIMITS = { connect: 2, inspect: 5, start: 30, create: 60, exec: 30, list: 10 } as const;

/** An engine that answered this recently is not pinged. */
const FRESH_MS = 1000;

/** The options of Node's own keep-alive agents. */
const KEPT_ALIVE = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tls: TlsFiles | null };

export type TlsFiles = { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };

/** A client for exactly this address, ignoring DOCKER_HOST. Opens no connection yet. */
export function dockerAt(address: EngineAddress): Docker {
  const nothing = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined };
  if ('socketPath' in address) {
    const docker = new Docker({ ...nothing, socketPath: address.socketPath } as Docker.DockerOptions);
    return limitAnswers(docker, () => new Agent(KEPT_ALIVE));
  }
  const { host, port, tls } = address;
  const protocol = tls === null ? 'http' : 'https';
  const docker = new Docker({ ...nothing, ...tls, host, port, protocol } as Docker.DockerOptions);
  return limitAnswers(docker, () => (tls === null ? new ConnectLimitAgent() : new SecureAgent(KEPT_ALIVE)));
}

/** Limits the time to connect; the calls have limits of their own. */
class ConnectLimitAgent extends Agent {
  override createConnection(
    ...[options, done]: Parameters<Agent['createConnection']>
  ): ReturnType<Agent['createConnection']> {
    const socket = super.createConnection(options, done);
    const timer = setTimeout(() => socket?.destroy(new Error('connect timeout')), LIMITS.connect * 1000);
    socket?.once('connect', () => clearTimeout(timer));
    socket?.once('close', () => clearTimeout(timer));
    return socket;
  }
}

type Inspectable<T> = { inspect(): Promise<T> };
type WithSignal<T> = (options: { readonly abortSignal: AbortSignal }) => Promise<T>;

// The client accepts a signal everywhere, but its types omit it here.

export const ping = (docker: Docker, abortSignal: AbortSignal): Promise<unknown> =>
  (docker.ping as WithSignal<unknown>).call(docker, { abortSignal });

export const engineInfo = (docker: Docker, abortSignal: AbortSignal): Promise<unknown> =>
  (docker.info as WithSignal<unknown>).call(docker, { abortSignal });

export const engineVersion = (docker: Docker, abortSignal: AbortSignal): Promise<unknown> =>
  (docker.version as WithSignal<unknown>).call(docker, { abortSignal });

export const inspectThing = <T>(thing: Inspectable<T>, abortSignal: AbortSignal): Promise<T> =>
  (thing.inspect as WithSignal<T>).call(thing, { abortSignal });

/** All calls to the engine: with a time limit, the port's errors, and an immediate failure when the engine hangs. */
export type EngineCalls = {
  readonly docker: Docker;
  ping(): Promise<void>;
  /** A call without changes. */
  read<T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** A mutating call, in its turn, for a container or a user. */
  change<T>(seconds: number, work: (signal: AbortSignal) => Promise<T>, of?: OnBehalf): Promise<T>;
  /** Starts a process in a container, in its turn. Throws `RuntimeBusy` when the turn does not come in time. */
  start<T>(runtimeId: string, seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Starts a process at once, when no request waits for it. The caller limits such starts. */
  startInBackground<T>(
    runtimeId: string,
    seconds: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Between the creation of an exec and its start; throws `ContainerPaused` when another process pauses. */
  admit(runtimeId: string): Promise<void>;
  /** How starts know of pauses by other processes of Berth; without it there are none. */
  heedPauses(isPausing: IsPausing): void;
  /** Pauses a container, in its turn, while no process is starting in it. */
  pause<T>(runtimeId: string, seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  readonly slots: EngineSlots;
  /** The queues of other expensive work. */
  readonly work: WorkTurns;
};

/** One queue per engine, shared by all its users. */
const known = new WeakMap<Docker, EngineCalls>();

export function engineCalls(docker: Docker): EngineCalls {
  const calls = known.get(docker) ?? newCalls(docker);
  known.set(docker, calls);
  return calls;
}

function newCalls(docker: Docker): EngineCalls {
  const slots = engineSlots();
  let answeredAt = Number.NEGATIVE_INFINITY;
  const timed = async <T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const result = await withLimit(seconds, work);
    answeredAt = performance.now();
    return result;
  };
  const pingNow = async (): Promise<void> =>
    void (await timed(LIMITS.connect, (signal) => ping(docker, signal)));
  const alive = async (): Promise<void> => {
    if (performance.now() - answeredAt >= FRESH_MS) await pingNow();
  };
  const asked = async <T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    await alive();
    return await timed(seconds, work);
  };
  const starts = processStarts({
    // A start in progress delays the answer.
    execsOf: async (runtimeId) => {
      const container = docker.getContainer(runtimeId);
      const found = await asked(LIMITS.start, (signal) => orNull([404], inspectThing(container, signal)));
      return found?.ExecIDs ?? [];
    },
    stateOf: async (id) =>
      stateOf(
        await asked(LIMITS.inspect, (signal) => orNull([404], inspectThing(docker.getExec(id), signal))),
      ),
  });
  return {
    docker,
    ping: pingNow,
    read: asked,
    change: (seconds, work, of = {}) => slots.change(of, () => asked(seconds, work)),
    startInBackground: (runtimeId, seconds, work) => starts.start(runtimeId, () => asked(seconds, work)),
    start: (runtimeId, seconds, work) =>
      starts.start(runtimeId, () => slots.start(runtimeId, () => asked(seconds, work))),
    admit: starts.admit,
    heedPauses: starts.heedPauses,
    pause: (runtimeId, seconds, work) =>
      starts.pause(runtimeId, () => slots.change({ runtimeId }, () => asked(seconds, work))),
    slots,
    work: workTurns(slots.ownerOf),
  };
}

function stateOf(exec: Docker.ExecInspectInfo | null): ExecState {
  if (exec === null) return 'ended';
  if (exec.Running) return exec.Pid > 0 ? 'running' : 'starting';
  return exec.ExitCode === null ? 'created' : 'ended';
}

async function withLimit<T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new RuntimeUnavailable(`the engine did not answer within ${seconds} s`));
      limit.abort();
    }, seconds * 1000);
  });
  try {
    return await Promise.race([work(limit.signal), late]);
  } catch (error) {
    // After a refused start the engine leaves the connection open for input.
    limit.abort();
    throw inPortWords(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Aborts after this time, or with an earlier signal. */
export const withTimeout = (seconds: number, signal?: AbortSignal): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(seconds * 1000), ...(signal === undefined ? [] : [signal])]);

/** The engine's HTTP status, or null when the error is no answer of the engine. */
export function statusOf(error: unknown): number | null {
  const code = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof code === 'number' ? code : null;
}

class EngineFailure extends RuntimeFailure {
  readonly statusCode: number;
  constructor(message: string, statusCode: number, options?: ErrorOptions) {
    super(message, options);
    this.statusCode = statusCode;
  }
}

const PAUSED = /\bis paused\b/i;

/** Turns a failure of work in a container into `ContainerNotRunning` when the container is gone, down or paused. */
export const inContainer = async <T>(work: Promise<T>): Promise<T> =>
  await work.catch((error: unknown) => {
    const status = statusOf(error);
    if (!(error instanceof RuntimeFailure) || (status !== 404 && status !== 409)) throw error;
    if (PAUSED.test(error.message)) throw new ContainerPaused(error.message, { cause: error });
    throw new ContainerNotRunning(error.message, status === 404, { cause: error });
  });

/** Engine errors become `RuntimeFailure`; all else means that it is unreachable. */
function inPortWords(error: unknown): Error {
  if (error instanceof RuntimeFailure || error instanceof RuntimeUnavailable) return error;
  const message = error instanceof Error ? error.message : String(error);
  const status = statusOf(error);
  return status === null
    ? new RuntimeUnavailable(`the engine is unreachable: ${message}`, { cause: error })
    : new EngineFailure(message.trim(), status, { cause: error });
}

/** Turns expected statuses into null: 304 "already so", 404 "no such thing", 409 "exists". */
export async function orNull<T>(expected: readonly number[], call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (expected.includes(statusOf(error) ?? 0)) return null;
    throw error;
  }
}
