import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { ExecRequest, ExecResult, OutputRoom } from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { KeptOutput } from './bounded-output.ts';
import { exitCodeOf, openExec } from './exec-stream.ts';
import { END_MARKED } from './process-scripts.ts';
import { frameReader } from './stream-demux.ts';

/** How long a killed command may keep its connection. */
const LET_GO_SECONDS = 2;
export const COMMAND_NOT_FOUND = 127;

/** Runs a command in a container to its end or time limit, then kills everything that it started. */
export async function execIn(
  calls: EngineCalls,
  runtimeId: string,
  request: ExecRequest,
): Promise<ExecResult> {
  const startedAt = performance.now();
  const marker = `BERTH_EXEC=${randomUUID()}`;
  const { exec, stream } = await openExec(calls, runtimeId, {
    command: request.command,
    env: { ...request.env, BERTH_EXEC: marker.slice('BERTH_EXEC='.length) },
    ...(request.workdir === undefined ? {} : { workdir: request.workdir }),
    tty: false,
    stdin: request.stdin !== undefined,
  });
  const [out, err] = [new KeptOutput(request.maxOutputBytes), new KeptOutput(request.maxOutputBytes)];
  const reading = keepOutput(stream, out, err, request.room);
  if (request.stdin !== undefined) stream.end(request.stdin);
  const inTime = await endsWithin(reading, request.timeoutSeconds);
  if (!inTime) await endMarked(calls, runtimeId, marker, 0);
  const isOver = inTime || (await endsWithin(reading, LET_GO_SECONDS));
  if (!isOver) stream.destroy();
  const exitCode = inTime ? await exitCodeOf(calls, exec) : null;
  const missing = notFound(exitCode, out.bytes(), request.command);
  return {
    exitCode: missing === null ? exitCode : COMMAND_NOT_FOUND,
    stdout: missing === null ? out.bytes() : Buffer.alloc(0),
    stderr: missing ?? err.bytes(),
    truncated: out.isCut || err.isCut || !isOver,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** Ends every process in the container with one of these NAME=VALUE lines in its environment. Never throws. */
export async function endMarked(
  calls: EngineCalls,
  runtimeId: string,
  markers: string,
  polls: number,
): Promise<void> {
  await runScript(calls, runtimeId, END_MARKED, [markers, String(polls)]).catch(() => {});
}

const SCRIPT_SECONDS = 10;

const SCRIPT_BYTES = 64 * 1024;

/** Runs one of Berth's scripts and returns its output. */
export async function runScript(
  calls: EngineCalls,
  runtimeId: string,
  script: string,
  args: readonly string[],
): Promise<string> {
  return (await printedBy(calls, runtimeId, script, args, SCRIPT_BYTES)).toString();
}

/** For longer output: the first `maxBytes`. */
export async function printedBy(
  calls: EngineCalls,
  runtimeId: string,
  script: string,
  args: readonly string[],
  maxBytes: number,
  seconds = SCRIPT_SECONDS,
): Promise<Buffer> {
  return (await printed(calls, runtimeId, [script, ...args], { maxBytes, seconds })).bytes;
}

/** For longer output: null unless it ends in time. `room`: how much may be buffered. */
export async function printedWhole(
  calls: EngineCalls,
  runtimeId: string,
  script: string,
  args: readonly string[],
  maxBytes: number,
  room?: OutputRoom,
): Promise<Buffer> {
  const limits = { maxBytes, seconds: SCRIPT_SECONDS, room };
  const { bytes, isWhole } = await printed(calls, runtimeId, [script, ...args], limits);
  return isWhole ? bytes : Buffer.alloc(0);
}

type Limits = {
  readonly maxBytes: number;
  readonly seconds: number;
  readonly room?: OutputRoom | undefined;
};

async function printed(
  calls: EngineCalls,
  runtimeId: string,
  [script = '', ...args]: readonly string[],
  { maxBytes, seconds, room }: Limits,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const command = ['sh', '-c', script, 'berth', ...args];
  const { stream } = await openExec(calls, runtimeId, { command, env: {}, tty: false, stdin: false });
  const out = new KeptOutput(maxBytes);
  const reading = keepOutput(stream, out, new KeptOutput(0), room);
  const isWhole = await endsWithin(reading, seconds);
  if (!isWhole) stream.destroy();
  return { bytes: out.bytes(), isWhole };
}

/**
 * The engine reports a command that could not start as code 126, with its own message as output. That names engine
 * paths, so the caller gets the shell's message instead.
 */
function notFound(exitCode: number | null, stdout: Buffer, command: readonly string[]): Buffer | null {
  const isReport = couldNotStart(exitCode) && isStartReport(stdout);
  return isReport ? notFoundWords(command) : null;
}

export const couldNotStart = (exitCode: number | null): boolean => exitCode === 126 || exitCode === 127;

/** Whether the output looks like that message. */
export const isStartReport = (output: Buffer): boolean =>
  output.subarray(0, 24).includes('OCI runtime exec failed');

export const notFoundWords = (command: readonly string[]): Buffer =>
  Buffer.from(`${command[0]}: not found\n`);

/** Whether the stream ends in time. Something must read it. */
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

async function endsWithin(work: Promise<void>, seconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), seconds * 1000);
  });
  return await Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}

/** Reads the stream to its end, whatever that is. Never throws. */
async function keepOutput(
  stream: Duplex,
  stdout: KeptOutput,
  stderr: KeptOutput,
  room?: OutputRoom,
): Promise<void> {
  const drop = (): void => {
    stdout.drop();
    stderr.drop();
  };
  room?.unwanted.addEventListener('abort', drop, { once: true });
  const framesOf = frameReader();
  let free = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const chunk of stream) {
      for (const { stream: name, data } of framesOf(chunk)) {
        free -= data.length;
        if (free < 0) {
          free = Number.POSITIVE_INFINITY;
          await room?.more();
        }
        (name === 'stdout' ? stdout : stderr).add(data);
      }
    }
  } catch {
    // a broken connection ends it too; its output is kept
  }
}
