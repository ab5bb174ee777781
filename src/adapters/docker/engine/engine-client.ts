import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import Docker from 'dockerode';
import {
  ContainerNotRunning,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import { limitAnswers } from './answer-limit.ts';
import { type WorkTurns, workTurns } from './engine-queues.ts';
import { type EngineSlots, engineSlots, type OnBehalf } from './engine-slots.ts';

/** Time limits of engine calls, in seconds. */
export const LIMITS = { connect: 2, inspect: 5, start: 30, create: 60, exec: 30, list: 10 } as const;

/** An engine that answered this recently is not asked again whether it lives. */
const FRESH_MS = 1000;

/** The options of Node's own keep-alive agents. */
const KEPT_ALIVE = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tls: TlsFiles | null };

export type TlsFiles = { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };

/** A client for exactly this address, whatever DOCKER_HOST says. Opens nothing yet. */
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

/** Gives up on a connection that is not open in time; the limits of calls cover what follows. */
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

// The client takes a signal everywhere; its types leave it out for these.

/** Whether the engine answers at all. */
export const ping = (docker: Docker, abortSignal: AbortSignal): Promise<unknown> =>
  (docker.ping as WithSignal<unknown>).call(docker, { abortSignal });

export const engineInfo = (docker: Docker, abortSignal: AbortSignal): Promise<unknown> =>
  (docker.info as WithSignal<unknown>).call(docker, { abortSignal });

export const inspectThing = <T>(thing: Inspectable<T>, abortSignal: AbortSignal): Promise<T> =>
  (thing.inspect as WithSignal<T>).call(thing, { abortSignal });

/**
 * How every call reaches the engine: with a time limit, failing in the words of the port, and at once when the
 * engine hangs, whatever the limit of the call.
 */
export type EngineCalls = {
  readonly docker: Docker;
  /** Whether it answers at this moment. */
  ping(): Promise<void>;
  /** Something that changes nothing. */
  read<T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Something that changes what the engine has: in its turn, on behalf of a container or a user. */
  change<T>(seconds: number, work: (signal: AbortSignal) => Promise<T>, of?: OnBehalf): Promise<T>;
  /** The start of a process in a container, in its turn. Throws `RuntimeBusy` when that does not come in time. */
  start<T>(runtimeId: string, seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  readonly slots: EngineSlots;
  /** Turns at what is dear beside that. */
  readonly work: WorkTurns;
};

/** One engine has one queue, however many look after what is in it. */
const known = new WeakMap<Docker, EngineCalls>();

export function engineCalls(docker: Docker): EngineCalls {
  const calls = known.get(docker) ?? newCalls(docker);
  known.set(docker, calls);
  return calls;
}

function newCalls(docker: Docker): EngineCalls {
  const slots = engineSlots();
  let answeredAt = 0;
  const timed = async <T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const result = await withLimit(seconds, work);
    answeredAt = Date.now();
    return result;
  };
  const pingNow = async (): Promise<void> =>
    void (await timed(LIMITS.connect, (signal) => ping(docker, signal)));
  const alive = async (): Promise<void> => {
    if (Date.now() - answeredAt >= FRESH_MS) await pingNow();
  };
  const asked = async <T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    await alive();
    return await timed(seconds, work);
  };
  return {
    docker,
    ping: pingNow,
    read: asked,
    change: (seconds, work, of = {}) => slots.change(of, () => asked(seconds, work)),
    start: (runtimeId, seconds, work) => slots.start(runtimeId, () => asked(seconds, work)),
    slots,
    work: workTurns(slots.ownerOf),
  };
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
    // A start that the engine refuses leaves its connection open for input that never comes.
    limit.abort();
    throw inPortWords(error);
  } finally {
    clearTimeout(timer);
  }
}

/** A signal that comes after so many seconds, or together with an earlier one. */
export const withTimeout = (seconds: number, signal?: AbortSignal): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(seconds * 1000), ...(signal === undefined ? [] : [signal])]);

/** The engine's own status code, or null for anything that is not an answer of the engine. */
export function statusOf(error: unknown): number | null {
  const code = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof code === 'number' ? code : null;
}

/** A fault that the engine reported, with the status of its answer. */
class EngineFailure extends RuntimeFailure {
  readonly statusCode: number;
  constructor(message: string, statusCode: number, options?: ErrorOptions) {
    super(message, options);
    this.statusCode = statusCode;
  }
}

/** Says of work in a container that failed because the container is gone or down that it was that. */
export async function inContainer<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    const status = statusOf(error);
    if (!(error instanceof RuntimeFailure) || (status !== 404 && status !== 409)) throw error;
    throw new ContainerNotRunning(error.message, status === 404, { cause: error });
  });
}

/** A fault that the engine reported becomes `RuntimeFailure`; everything else means that it is unreachable. */
function inPortWords(error: unknown): Error {
  if (error instanceof RuntimeFailure || error instanceof RuntimeUnavailable) return error;
  const message = error instanceof Error ? error.message : String(error);
  const status = statusOf(error);
  return status === null
    ? new RuntimeUnavailable(`the engine is unreachable: ${message}`, { cause: error })
    : new EngineFailure(message.trim(), status, { cause: error });
}

/** 304 "already so", 404 "no such thing", 409 "exists": what a caller expects is an answer, here null. */
export async function orNull<T>(expected: readonly number[], call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (expected.includes(statusOf(error) ?? 0)) return null;
    throw error;
  }
}
