import type { Duplex } from 'node:stream';
import { within } from '../../../concurrency/timeout.ts';
import { CappedOutput } from '../../../domain/capped-output.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { openExec } from './exec-stream.ts';
import { END_MARKED, SIGNAL_MARKED } from './process-scripts.ts';
import { frameReader } from './stream-demux.ts';

/** Ends every process in the container with one of these NAME=VALUE lines in its environment. Never throws. */
export async function endMarked(
  calls: EngineCalls,
  runtimeId: string,
  markers: string,
  polls: number,
): Promise<void> {
  await runScript(calls, runtimeId, END_MARKED, [markers, String(polls)]).catch(() => {});
}

/** Sends a signal, named without `SIG`, to those processes. Never throws. */
export async function signalMarked(
  calls: EngineCalls,
  runtimeId: string,
  markers: string,
  signal: string,
): Promise<void> {
  await runScript(calls, runtimeId, SIGNAL_MARKED, [markers, signal]).catch(() => {});
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
  const out = new CappedOutput(maxBytes);
  const reading = keepOutput(stream, out, room);
  const isWhole = await within(
    seconds * 1000,
    reading.then(() => true),
    false,
  );
  if (!isWhole) stream.destroy();
  return { bytes: out.bytes(), isWhole };
}

/** Keeps stdout, up to its end, whatever that is. Never throws. */
async function keepOutput(stream: Duplex, stdout: CappedOutput, room?: OutputRoom): Promise<void> {
  room?.unwanted.addEventListener('abort', () => stdout.drop(), { once: true });
  const framesOf = frameReader();
  let freeBytes = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const chunk of stream) {
      for (const { stream: name, data } of framesOf(chunk)) {
        freeBytes -= data.length;
        if (freeBytes < 0) {
          freeBytes = Number.POSITIVE_INFINITY;
          await room?.more();
        }
        if (name === 'stdout') stdout.add(data);
      }
    }
  } catch {
    // a broken connection ends it too; its output is kept
  }
}
