import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Duplex, Writable } from 'node:stream';
import { type ExecRequest, type ExecResult, RuntimeFailure } from '../../ports/container-runtime.ts';
import type { EngineCalls } from './client.ts';
import { type ExecOptions, exitCodeOf, type OpenExec, openExec } from './exec-stream.ts';
import { END_MARKED } from './scripts.ts';

/** How long a killed command may take to let go of its connection. */
const LET_GO_SECONDS = 2;
const COMMAND_NOT_FOUND = 127;

/** Runs a command in a container to its end or its time limit; then everything that it started is killed. */
export async function execIn(
  calls: EngineCalls,
  containerId: string,
  request: ExecRequest,
): Promise<ExecResult> {
  const startedAt = performance.now();
  const marker = `BERTH_EXEC=${randomUUID()}`;
  const opened = await openOrMissing(calls, containerId, {
    command: request.command,
    env: { ...request.env, BERTH_EXEC: marker.slice('BERTH_EXEC='.length) },
    ...(request.workdir === undefined ? {} : { workdir: request.workdir }),
    tty: false,
    stdin: request.stdin !== undefined,
  });
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  if (typeof opened === 'string') return notStarted(opened, durationMs());
  const { exec, stream } = opened;
  const out = limited(request.maxOutputBytes);
  const err = limited(request.maxOutputBytes);
  calls.docker.modem.demuxStream(stream, out.sink, err.sink);
  if (request.stdin !== undefined) stream.end(request.stdin);
  const inTime = await closesWithin(stream, request.timeoutSeconds);
  if (!inTime) await endMarked(calls, containerId, marker, 0);
  const isOver = inTime || (await closesWithin(stream, LET_GO_SECONDS));
  if (!isOver) stream.destroy();
  return {
    exitCode: inTime ? await exitCodeOf(calls, exec) : null,
    stdout: out.bytes(),
    stderr: err.bytes(),
    truncated: out.isCut() || err.isCut(),
    durationMs: durationMs(),
  };
}

/** Ends every process in the container with this NAME=VALUE in its environment. Never throws. */
export async function endMarked(
  calls: EngineCalls,
  containerId: string,
  marker: string,
  polls: number,
): Promise<void> {
  await runScript(calls, containerId, END_MARKED, [marker, String(polls)]).catch(() => {});
}

const SCRIPT_SECONDS = 10;

/** Runs one of our own programs and returns what it printed. */
export async function runScript(
  calls: EngineCalls,
  containerId: string,
  script: string,
  args: readonly string[],
): Promise<string> {
  const command = ['sh', '-c', script, 'berth', ...args];
  const { stream } = await openExec(calls, containerId, { command, env: {}, tty: false, stdin: false });
  const out = limited(64 * 1024);
  calls.docker.modem.demuxStream(stream, out.sink, limited(0).sink);
  if (!(await closesWithin(stream, SCRIPT_SECONDS))) stream.destroy();
  return out.bytes().toString();
}

async function openOrMissing(
  calls: EngineCalls,
  id: string,
  options: ExecOptions,
): Promise<OpenExec | string> {
  try {
    return await openExec(calls, id, options);
  } catch (error) {
    const isFault =
      error instanceof RuntimeFailure && /executable file not found|no such file/.test(error.message);
    if (isFault) return `${options.command[0]}: not found`;
    throw error;
  }
}

const notStarted = (message: string, durationMs: number): ExecResult => ({
  exitCode: COMMAND_NOT_FOUND,
  stdout: Buffer.alloc(0),
  stderr: Buffer.from(`${message}\n`),
  truncated: false,
  durationMs,
});

/** Whether the stream is over in time. It must be read by someone. */
export async function closesWithin(stream: Duplex, seconds: number): Promise<boolean> {
  if (stream.closed) return true;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), seconds * 1000);
  return await once(stream, 'close', { signal: limit.signal })
    .then(
      () => true,
      () => stream.closed,
    )
    .finally(() => clearTimeout(timer));
}

type Limited = { readonly sink: Writable; bytes(): Buffer; isCut(): boolean };

/** Keeps the first `maxBytes` and swallows the rest, so that the program is never blocked. */
function limited(maxBytes: number): Limited {
  const chunks: Buffer[] = [];
  let room = maxBytes;
  let cut = false;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (chunk.length > room) cut = true;
      if (room > 0) chunks.push(chunk.subarray(0, room));
      room = Math.max(0, room - chunk.length);
      done();
    },
  });
  return { sink, bytes: () => Buffer.concat(chunks), isCut: () => cut };
}
