import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { poll, pollUntil } from '../../../concurrency/poll.ts';
import {
  ContainerNotRunning,
  OutcomeUnknown,
  RuntimeFailure,
} from '../../../ports/containers/container-runtime.ts';
import { type EngineCalls, inContainer, LIMITS, statusOf } from '../engine/engine-client.ts';
import { buffersUpTo } from './exec-tail.ts';

export type ExecOptions = {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly tty: boolean;
  readonly stdin: boolean;
  /** The process starts once this resolves, and never when it rejects. */
  readonly startAfter?: Promise<unknown>;
  /** Takes no slot of its container's owner, because no request waits for it. The caller limits such starts. */
  readonly isInBackground?: boolean;
};

export type OpenExec = { readonly exec: Docker.Exec; readonly stream: Duplex };

/**
 * The engine detaches from a terminal after this key sequence, and delays its possible beginnings. The default, Ctrl-P
 * Ctrl-Q, is in everyday use and in long pastes; these start with the rarest key and never occur in a row.
 */
const DETACH_KEYS = ['^', '@', '_', '^', ']', '@', '^', '_', ']', '^', '@', ']', '_', '^', '@', '_']
  .map((key) => `ctrl-${key}`)
  .join(',');

const NOT_RUNNING = /Container \S+ is not running\b/i;

/** A stopped container is 409, but while being removed a 500 with these words. */
function asNotRunning(error: unknown): never {
  const isSo =
    error instanceof RuntimeFailure &&
    !(error instanceof ContainerNotRunning) &&
    NOT_RUNNING.test(error.message);
  throw isSo ? new ContainerNotRunning(error.message, false, { cause: error }) : error;
}

/** A request to start a process that was sent, but not answered, may have started it. */
function asUnknown(error: unknown): never {
  const { syscall } = error as { readonly syscall?: unknown };
  if (statusOf(error) !== null || syscall === 'connect' || syscall === 'getaddrinfo') throw error;
  throw new OutcomeUnknown('the engine did not confirm the start of a process', { cause: error });
}

/**
 * Starts a process in a container and returns its raw connection; pausing that pauses the process. Connection errors
 * end the stream and are never thrown unhandled.
 */
export async function openExec(
  calls: EngineCalls,
  runtimeId: string,
  options: ExecOptions,
): Promise<OpenExec> {
  const { command, env, workdir, tty, stdin, startAfter, isInBackground } = options;
  const request = {
    Cmd: [...command],
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...(workdir === undefined ? {} : { WorkingDir: workdir }),
    Tty: tty,
    ...(tty ? { DetachKeys: DETACH_KEYS } : {}),
    AttachStdin: stdin,
    AttachStdout: true,
    AttachStderr: true,
  };
  const create = async (abortSignal: AbortSignal): Promise<OpenExec> => {
    const exec = await calls.docker.getContainer(runtimeId).exec({ ...request, abortSignal });
    await startAfter;
    await calls.admit(runtimeId);
    const start = { hijack: true, stdin: true, Tty: tty, abortSignal };
    const stream = await exec.start(start).catch(asUnknown);
    return { exec, stream };
  };
  const opening =
    isInBackground === true
      ? calls.startInBackground(runtimeId, LIMITS.exec, create)
      : calls.start(runtimeId, LIMITS.exec, create);
  const { exec, stream } = await inContainer(opening).catch(asNotRunning);
  // an error is followed by `close`, which every reader handles
  stream.on('error', () => {});
  // A paused stream would read on in small pieces. A terminal's leaves them in the kernel, which delivers them together.
  if (tty) buffersUpTo(stream, 1);
  return { exec, stream };
}

const ENDED_SECONDS = 2;

/** The exit code of a process that has ended or soon will; null when it runs or the engine does not know. */
export async function exitCodeOf(
  calls: EngineCalls,
  exec: Docker.Exec,
  seconds = ENDED_SECONDS,
): Promise<number | null> {
  // The stream ends a moment before the engine records the end.
  const ended = async (): Promise<{ readonly code: number | null } | null> => {
    const info = await calls.read(LIMITS.inspect, (abortSignal) => exec.inspect({ abortSignal }));
    return info.Running ? null : { code: info.ExitCode };
  };
  const found = await poll(ended, { withinMs: seconds * 1000, everyMs: 15 }).catch(() => null);
  return found?.code ?? null;
}

/** Whether it looks like the engine's own words about a command that it could not start. */
export const isStartReport = (output: Buffer): boolean =>
  output.subarray(0, 24).includes('OCI runtime exec failed');

/** How long a program may take to start before a resize of its terminal is given up. */
const STARTS_MS = 2_000;

/** Tried again while the program starts, since the engine refuses that. Podman answers 201. */
export async function resizeExec(
  calls: EngineCalls,
  exec: Docker.Exec,
  cols: number,
  rows: number,
): Promise<void> {
  const hasEnded = async (): Promise<boolean> => {
    const info = await calls.read(LIMITS.inspect, (abortSignal) => exec.inspect({ abortSignal }));
    return !info.Running && info.ExitCode !== null;
  };
  const isOver = async (): Promise<boolean> => {
    try {
      await calls.read(LIMITS.inspect, (abortSignal) => exec.resize({ w: cols, h: rows, abortSignal }));
      return true;
    } catch (error) {
      return statusOf(error) === 201 || (await hasEnded().catch(() => true));
    }
  };
  await pollUntil(isOver, { withinMs: STARTS_MS });
}
