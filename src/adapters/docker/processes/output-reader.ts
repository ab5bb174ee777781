import type {
  CommandEvent,
  ContainerCommands,
  RunningCommand,
} from '../../../ports/containers/container-commands.ts';
import { RuntimeFailure, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type {
  OutputOffsets,
  OutputPiece,
  ProcessOutput,
} from '../../../ports/containers/processes/container-processes.ts';
import { FOLLOW } from './stream-scripts.ts';

/** The exit codes of FOLLOW that end the reading: the process has ended, or is not followed. */
const DONE = [0, 5];
/** Of a reader that has lasted long enough. */
const RENEW = 4;
const UNKNOWN_PROCESS = 44;
/** Readers in a row that found output, but could not read it. */
const MAX_FRUITLESS = 20;
const MAX_HEADER_BYTES = 64;
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

/** Reads a process's output by a program in the container, and by another one where that one ends too early. */
export async function followOutput(
  commands: ContainerCommands,
  request: Request,
): Promise<ProcessOutput | null> {
  const open = openReaders(commands, request);
  const first = await open(request.after);
  if (first === null) return null;
  const reading: Reading = { open, current: first, isOver: false };
  return {
    start: first.start,
    pieces: allPieces(reading),
    end: async () => {
      reading.isOver = true;
      await reading.current.running.end();
    },
  };
}

/** null for an unknown process. */
type Open = (from: OutputOffsets) => Promise<Reader | null>;

const openReaders =
  (commands: ContainerCommands, { handle, id, follow }: Request): Open =>
  async (from) => {
    const args = [id, String(from.stdout), String(from.stderr), follow ? 'yes' : 'no'];
    const command = ['/bin/sh', '-c', FOLLOW, 'berth', ...args];
    for (let tries = 1; ; tries += 1) {
      const found = await withHeader(
        await commands.open(handle, { command, timeoutSeconds: READER_SECONDS }),
      );
      if (found === UNKNOWN_PROCESS) return null;
      if (found !== null && typeof found !== 'number') return found;
      // While much is written, the oldest output may be removed before it is opened.
      if (tries === MAX_FRUITLESS)
        throw new RuntimeFailure(`output cannot be read: a reader ended with ${found}`);
    }
  };

type Reading = { readonly open: Open; current: Reader; isOver: boolean };

async function* allPieces(reading: Reading): AsyncGenerator<OutputPiece> {
  for (let fruitless = 0; ; ) {
    const { at, exitCode, isFruitless } = yield* piecesOf(reading.current);
    if (reading.isOver || DONE.includes(exitCode ?? -1)) return;
    // A quiet reader that ends by itself has lasted for minutes.
    fruitless = isFruitless && exitCode !== RENEW ? fruitless + 1 : 0;
    if (fruitless > MAX_FRUITLESS) throw new RuntimeFailure(`a reader ended with ${exitCode}`);
    const next = await reading.open(at);
    if (next === null) return;
    reading.current = next;
    // The caller may have left meanwhile.
    if (reading.isOver) await reading.current.running.end();
  }
}

type ReaderEnd = {
  readonly at: OutputOffsets;
  readonly exitCode: number | null;
  readonly isFruitless: boolean;
};

async function* piecesOf({ start, events }: Reader): AsyncGenerator<OutputPiece, ReaderEnd> {
  const at = { ...start };
  let exitCode: number | null = null;
  let isFruitless = true;
  for await (const event of events) {
    if (event.kind === 'exit') exitCode = event.exitCode;
    else {
      isFruitless = false;
      yield { stream: event.stream, offset: at[event.stream], data: event.data };
      at[event.stream] += event.data.length;
    }
  }
  return { at, exitCode, isFruitless };
}

/** The reader once it has printed where it starts; its exit code where it printed nothing. */
async function withHeader(running: RunningCommand): Promise<Reader | number | null> {
  const events = running.events[Symbol.asyncIterator]();
  const early: CommandEvent[] = [];
  let header = Buffer.alloc(0);
  for (;;) {
    const { value: event, done } = await events.next();
    if (done) return null;
    if (event.kind === 'exit') return event.exitCode;
    if (event.stream === 'stderr') early.push(event);
    else {
      header = Buffer.concat([header, event.data]);
      const end = header.indexOf('\n');
      if (end >= 0) {
        const start = offsetsIn(header.subarray(0, end).toString());
        const rest = header.subarray(end + 1);
        if (rest.length > 0) early.unshift({ kind: 'output', stream: 'stdout', data: rest });
        return { running, start, events: joined(early, events) };
      }
    }
    const waiting = early.length;
    if (header.length > MAX_HEADER_BYTES || waiting > 1024) {
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
