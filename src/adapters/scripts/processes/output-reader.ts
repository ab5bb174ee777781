import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeFailure, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type {
  CommandEvent,
  ContainerCommands,
  RunningCommand,
} from '../../../ports/containers/inside/container-commands.ts';
import type {
  OutputOffsets,
  OutputPiece,
  ProcessOutput,
} from '../../../ports/containers/processes/container-processes.ts';
import { inTime } from '../exec/in-time.ts';
import { FOLLOW } from './stream-scripts.ts';

/** The exit codes of FOLLOW that end the reading: the process has ended, or is not followed. */
const DONE = [0, 5];
const UNKNOWN_PROCESS = 44;
/** Readers in a row that ended early, with little output. */
const MAX_FRUITLESS = 20;
/** Less than a segment of the smallest output: a reader that passes more has read from a flood. */
const LITTLE_BYTES = 16_384;
/** A reader that asks to be started again lasts longer, unless much is written. */
const EARLY_MS = 60_000;
const PAUSE = { firstMs: 50, maxMs: 1_000 };
const HEADER_SECONDS = 20;
const MAX_HEADER_BYTES = 64;
const MAX_EARLY_BYTES = 1_048_576;
const READER_SECONDS = 3600;

type Request = {
  readonly handle: RuntimeHandle;
  readonly id: string;
  readonly after: OutputOffsets;
  readonly follow: boolean;
};

type Reader = {
  readonly running: RunningCommand;
  readonly start: OutputOffsets;
  readonly events: AsyncGenerator<CommandEvent>;
};

/** The time between two readers. A pause ends early on the signal. */
export type ReaderPace = {
  readonly nowMs: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long a reader may take to say where it starts. */
  readonly headerSeconds: number;
};

const REAL_PACE: ReaderPace = {
  nowMs: () => performance.now(),
  pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  headerSeconds: HEADER_SECONDS,
};

const pauseMs = (early: number): number => Math.min(PAUSE.firstMs * 2 ** (early - 1), PAUSE.maxMs);

/**
 * Reads a process's output by a program in the container, and by another one where that one ends too early. A user can
 * replace the program's shell, so one that ends at once is started again slowly, and not forever.
 */
export async function followOutput(
  commands: ContainerCommands,
  request: Request,
  pace = REAL_PACE,
): Promise<ProcessOutput | null> {
  const over = new AbortController();
  const pause: Pause = async (early) => {
    await pace.pause(pauseMs(early), over.signal);
    return over.signal.aborted;
  };
  const open = openReaders(commands, request, {
    pause,
    over: over.signal,
    headerSeconds: pace.headerSeconds,
  });
  const first = await open(request.after);
  if (first === null) return null;
  const reading: Reading = { open, current: first, over, nowMs: pace.nowMs, pause };
  return {
    start: first.start,
    pieces: allPieces(reading),
    end: async () => {
      over.abort();
      await reading.current.running.end();
    },
  };
}

/** Before a reader that follows so many early ones. Returns whether the caller has left meanwhile. */
type Pause = (early: number) => Promise<boolean>;

/** null for an unknown process, or when the caller has left. */
type Open = (from: OutputOffsets) => Promise<Reader | null>;

type Opening = {
  readonly pause: Pause;
  readonly over: AbortSignal;
  readonly headerSeconds: number;
};

const openReaders =
  (commands: ContainerCommands, { handle, id, follow }: Request, opening: Opening): Open =>
  async (from) => {
    const args = [id, String(from.stdout), String(from.stderr), follow ? 'yes' : 'no'];
    const command = ['/bin/sh', '-c', FOLLOW, 'berth', ...args];
    for (let tries = 1; ; tries += 1) {
      const running = await commands.open(handle, { command, timeoutSeconds: READER_SECONDS });
      const found = await headerInTime(running, opening);
      if (found === UNKNOWN_PROCESS) return null;
      if (found !== null && typeof found !== 'number') return found;
      // While much is written, the oldest output may be removed before it is opened.
      if (tries === MAX_FRUITLESS)
        throw new RuntimeFailure(`output cannot be read: a reader ended with ${found}`);
      if (await opening.pause(tries)) return null;
    }
  };

type Reading = {
  readonly open: Open;
  current: Reader;
  readonly over: AbortController;
  readonly nowMs: () => number;
  readonly pause: Pause;
};

async function* allPieces(reading: Reading): AsyncGenerator<OutputPiece> {
  const { open, over, nowMs, pause } = reading;
  for (let [early, fruitless] = [0, 0]; ; ) {
    const startMs = nowMs();
    const { at, exitCode, bytes } = yield* piecesOf(reading.current);
    if (over.signal.aborted || DONE.includes(exitCode ?? -1)) return;
    const isEarly = nowMs() - startMs < EARLY_MS;
    early = isEarly ? early + 1 : 0;
    fruitless = isEarly && bytes < LITTLE_BYTES ? fruitless + 1 : 0;
    if (fruitless > MAX_FRUITLESS) throw new RuntimeFailure(`a reader ended with ${exitCode}`);
    if (isEarly && (await pause(early))) return;
    const next = await open(at);
    if (next === null) return;
    reading.current = next;
    // The caller may have left meanwhile.
    if (over.signal.aborted) await reading.current.running.end();
  }
}

type ReaderEnd = {
  readonly at: OutputOffsets;
  readonly exitCode: number | null;
  /** What it has read. */
  readonly bytes: number;
};

async function* piecesOf({ start, events }: Reader): AsyncGenerator<OutputPiece, ReaderEnd> {
  const at = { ...start };
  let exitCode: number | null = null;
  let bytes = 0;
  for await (const event of events) {
    if (event.kind === 'exit') exitCode = event.exitCode;
    else {
      bytes += event.data.length;
      yield { stream: event.stream, offset: at[event.stream], data: event.data };
      at[event.stream] += event.data.length;
    }
  }
  return { at, exitCode, bytes };
}

/** A reader that prints nothing is ended in time, and when the caller leaves. */
async function headerInTime(
  running: RunningCommand,
  { over, headerSeconds }: Opening,
): Promise<Reader | number | null> {
  const end = (): Promise<void> => running.end();
  over.addEventListener('abort', end, { once: true });
  if (over.aborted) void end();
  return await inTime(withHeader(running), headerSeconds, end).finally(() =>
    over.removeEventListener('abort', end),
  );
}

/** The reader once it has printed where it starts; its exit code where it printed nothing. */
async function withHeader(running: RunningCommand): Promise<Reader | number | null> {
  const events = running.events[Symbol.asyncIterator]();
  const early: CommandEvent[] = [];
  let header = Buffer.alloc(0);
  let earlyBytes = 0;
  for (;;) {
    const { value: event, done } = await events.next();
    if (done) return null;
    if (event.kind === 'exit') return event.exitCode;
    if (event.stream === 'stderr') {
      early.push(event);
      earlyBytes += event.data.length;
    } else {
      header = Buffer.concat([header, event.data]);
      const end = header.indexOf('\n');
      if (end >= 0) {
        const start = offsetsIn(header.subarray(0, end).toString());
        const rest = header.subarray(end + 1);
        if (rest.length > 0) early.unshift({ kind: 'output', stream: 'stdout', data: rest });
        return { running, start, events: joined(early, events) };
      }
    }
    if (header.length > MAX_HEADER_BYTES || early.length > 1024 || earlyBytes > MAX_EARLY_BYTES) {
      await running.end();
      throw new RuntimeFailure('a reader did not say where it starts');
    }
  }
}

function offsetsIn(line: string): OutputOffsets {
  const [, stdout, stderr] = /^(\d{1,15}) (\d{1,15})$/.exec(line) ?? [];
  if (stdout === undefined || stderr === undefined)
    throw new RuntimeFailure('a reader did not say where it starts');
  return { stdout: Number(stdout), stderr: Number(stderr) };
}

async function* joined(
  early: readonly CommandEvent[],
  events: AsyncIterator<CommandEvent>,
): AsyncGenerator<CommandEvent> {
  yield* early;
  for (;;) {
    const { value, done } = await events.next();
    if (done) return;
    yield value;
  }
}
