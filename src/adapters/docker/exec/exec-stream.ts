import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { poll } from '../../../concurrency/poll.ts';
import { ContainerNotRunning, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { type EngineCalls, inContainer, LIMITS } from '../engine/engine-client.ts';

export type ExecOptions = {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly tty: boolean;
  readonly stdin: boolean;
};

export type OpenExec = { readonly exec: Docker.Exec; readonly stream: Duplex };

/**
 * The engine leaves a terminal when these keys come in a row, and holds back what may be the beginning of them. Its
 * own choice is Ctrl-P Ctrl-Q: everyday keys, and bytes of any longer paste. These begin with the rarest key there
 * is and never come in a row.
 */
const DETACH_KEYS = ['^', '@', '_', '^', ']', '@', '^', '_', ']', '^', '@', ']', '_', '^', '@', '_']
  .map((key) => `ctrl-${key}`)
  .join(',');

const NOT_RUNNING = /Container \S+ is not running\b/i;

/** What does not run is 409, but while it is removed these words come with a 500. */
function asNotRunning(error: unknown): never {
  const isSo =
    error instanceof RuntimeFailure &&
    !(error instanceof ContainerNotRunning) &&
    NOT_RUNNING.test(error.message);
  throw isSo ? new ContainerNotRunning(error.message, false, { cause: error }) : error;
}

/**
 * Starts a process in a container and returns its raw connection: pausing it reaches the process. Errors of
 * the connection end the stream and are never thrown into the void.
 */
export async function openExec(
  calls: EngineCalls,
  runtimeId: string,
  options: ExecOptions,
): Promise<OpenExec> {
  const { command, env, workdir, tty, stdin } = options;
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
  const opening = calls.start(runtimeId, LIMITS.exec, async (abortSignal) => {
    const exec = await calls.docker.getContainer(runtimeId).exec({ ...request, abortSignal });
    return { exec, stream: await exec.start({ hijack: true, stdin: true, Tty: tty, abortSignal }) };
  });
  const { exec, stream } = await inContainer(opening).catch(asNotRunning);
  // What comes after an error is `close`, which every reader handles.
  stream.on('error', () => {});
  if (tty) stopsAtOnce(stream);
  return { exec, stream };
}

/**
 * A paused stream goes on reading until it holds 64 KiB, in pieces as small as they come. A terminal's is to leave them to
 * the kernel, which hands them over as one. Where the runtime has no such field, all that is lost is that.
 */
function stopsAtOnce(stream: Duplex): void {
  const { _readableState: state } = stream as unknown as { _readableState?: { highWaterMark?: number } };
  if (state !== undefined) state.highWaterMark = 1;
}

const ENDED_SECONDS = 2;

/** Exit code of a process that has ended or soon will; null when it goes on or the engine does not know. */
export async function exitCodeOf(
  calls: EngineCalls,
  exec: Docker.Exec,
  seconds = ENDED_SECONDS,
): Promise<number | null> {
  // The stream ends a moment before the engine writes the end down.
  const ended = async (): Promise<{ readonly code: number | null } | null> => {
    const info = await calls.read(LIMITS.inspect, (abortSignal) => exec.inspect({ abortSignal }));
    return info.Running ? null : { code: info.ExitCode };
  };
  const found = await poll(ended, { withinMs: seconds * 1000, everyMs: 15 }).catch(() => null);
  return found?.code ?? null;
}
