import { within } from '../../../concurrency/timeout.ts';
import { CappedOutput } from '../../../domain/capped-output.ts';
import type {
  ContainerProgram,
  ContainerPrograms,
} from '../../../ports/containers/inside/container-programs.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import { END_MARKED, SIGNAL_MARKED } from './process-scripts.ts';

type Starts = Pick<ContainerPrograms, 'start'>;

/**
 * Ends every process in the container with one of these NAME=VALUE lines in its environment. Returns false when there
 * was none, and true also when that is not known. Never throws.
 */
export const endMarked = (
  programs: Starts,
  runtimeId: string,
  markers: string,
  polls: number,
): Promise<boolean> => findsAny(programs, runtimeId, END_MARKED, [markers, String(polls)]);

/** Sends a signal, named without `SIG`, to those processes. Returns the same. Never throws. */
export const signalMarked = (
  programs: Starts,
  runtimeId: string,
  markers: string,
  signal: string,
): Promise<boolean> => findsAny(programs, runtimeId, SIGNAL_MARKED, [markers, signal]);

const findsAny = (programs: Starts, runtimeId: string, script: string, args: readonly string[]) =>
  runScript(programs, runtimeId, script, args).then(
    (printed) => !printed.startsWith('none'),
    () => true,
  );

const SCRIPT_SECONDS = 10;

const SCRIPT_BYTES = 64 * 1024;

/** Runs one of Berth's scripts and returns its output. */
export const runScript = async (
  programs: Starts,
  runtimeId: string,
  script: string,
  args: readonly string[],
): Promise<string> => (await printedBy(programs, runtimeId, script, args, SCRIPT_BYTES)).toString();

/** For longer output: the first `maxBytes`. */
export const printedBy = async (
  programs: Starts,
  runtimeId: string,
  script: string,
  args: readonly string[],
  maxBytes: number,
  seconds = SCRIPT_SECONDS,
): Promise<Buffer> => (await printed(programs, runtimeId, [script, ...args], { maxBytes, seconds })).bytes;

/** For longer output: null unless it ends in time. `room`: how much may be buffered. */
export async function printedWhole(
  programs: Starts,
  runtimeId: string,
  script: string,
  args: readonly string[],
  maxBytes: number,
  room?: OutputRoom,
): Promise<Buffer> {
  const limits = { maxBytes, seconds: SCRIPT_SECONDS, room };
  const { bytes, isWhole } = await printed(programs, runtimeId, [script, ...args], limits);
  return isWhole ? bytes : Buffer.alloc(0);
}

type Limits = {
  readonly maxBytes: number;
  readonly seconds: number;
  readonly room?: OutputRoom | undefined;
};

async function printed(
  programs: Starts,
  runtimeId: string,
  [script = '', ...args]: readonly string[],
  { maxBytes, seconds, room }: Limits,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const command = ['sh', '-c', script, 'berth', ...args];
  const program = await programs.start(runtimeId, { command, env: {}, form: 'apart', stdin: false });
  const out = new CappedOutput(maxBytes);
  const reading = keepOutput(program, out, room);
  const isWhole = await within(
    seconds * 1000,
    reading.then(() => true),
    false,
  );
  if (!isWhole) program.stream.destroy();
  return { bytes: out.bytes(), isWhole };
}

/** Keeps stdout, up to its end, whatever that is. Never throws. */
async function keepOutput(program: ContainerProgram, stdout: CappedOutput, room?: OutputRoom): Promise<void> {
  room?.unwanted.addEventListener('abort', () => stdout.drop(), { once: true });
  let freeBytes = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const { stream, data } of program.output()) {
      freeBytes -= data.length;
      if (freeBytes < 0) {
        freeBytes = Number.POSITIVE_INFINITY;
        await room?.more();
      }
      if (stream === 'stdout') stdout.add(data);
    }
  } catch {
    // a broken connection ends it too; its output is kept
  }
}
