import { randomUUID } from 'node:crypto';
import type { Duplex, Readable } from 'node:stream';
import { eachOnce, latestOnly } from '../../../concurrency/coalesce.ts';
import { pollUntil } from '../../../concurrency/poll.ts';
import { OutcomeUnknown } from '../../../ports/containers/container-runtime.ts';
import type {
  CommandEvent,
  CommandSignal,
  CommandTerminal,
  ContainerCommands,
  ControlledCommand,
} from '../../../ports/containers/inside/container-commands.ts';
import type {
  ContainerProgram,
  ContainerPrograms,
  FindRuntimeId,
  ProgramOutput,
} from '../../../ports/containers/inside/container-programs.ts';
import { closesWithin } from './closes-within.ts';
import { endMarked, signalMarked } from './run-script.ts';

/** How long a killed command may keep its connection. */
const LET_GO_SECONDS = 2;
const COMMAND_NOT_FOUND = 127;
/** A program begins at most this long after the engine confirms its command. */
const BEGINS_WITHIN_MS = 5_000;
const RETRY_EVERY_MS = 300;
/** Set only for a terminal's program, not for the shell that starts it. */
const BEGUN = 'BERTH_BEGUN';

/** Streamed commands in containers of one engine. */
export const shellCommands = (programs: ContainerPrograms, find: FindRuntimeId): ContainerCommands => ({
  async open(handle, request) {
    const { command, env, workdir, stdin, terminal, timeoutSeconds } = request;
    const id = await find(handle);
    const marker = randomUUID();
    const program = await programs.start(id, {
      command: terminal === undefined ? command : sized(command, terminal, marker),
      env: { ...(terminal === undefined ? {} : { TERM: terminal.term }), ...env, BERTH_EXEC: marker },
      ...(workdir === undefined ? {} : { workdir }),
      form: terminal === undefined ? 'apart' : 'terminal',
      stdin: stdin !== undefined,
    });
    const { stream } = program;
    sendInput(stream, stdin, terminal === undefined);
    const onceBegun = afterBegin(program);
    const begun = terminal === undefined ? 'BERTH_EXEC' : BEGUN;
    const ending = endable(stream, async () => {
      const first = Promise.withResolvers<void>();
      // The caller waits for the first attempt alone, so that a time limit is kept.
      void onceBegun(() => endMarked(programs, id, `BERTH_EXEC=${marker}`, 0).finally(first.resolve));
      await first.promise;
    });
    let late = false;
    const timeUp = (): void => {
      late = true;
      void ending.timeUp();
    };
    const timer = timeoutSeconds === null ? undefined : setTimeout(timeUp, timeoutSeconds * 1000).unref();
    const exitCode = async (): Promise<number | null> => (late ? null : await program.exitCode());
    const stopTimer = (): void => clearTimeout(timer);
    const end = async (): Promise<void> => {
      stopTimer();
      await ending.end();
    };
    const all = events(program.output(), ending, { exitCode, over: stopTimer });
    return {
      events: withoutReport(all, command, programs.isStartReport),
      end,
      ...controls({
        signal: (name) => onceBegun(() => signalMarked(programs, id, `${begun}=${marker}`, name)),
        resize: async ({ cols, rows }) => {
          if (terminal !== undefined) await program.resize(cols, rows);
        },
      }),
    };
  },
});

/**
 * The engine confirms a command before its program begins. A signal that comes first finds no process, and is sent again
 * until it finds one. `send` returns false when it found none.
 */
function afterBegin(program: ContainerProgram): (send: () => Promise<boolean>) => Promise<void> {
  const beginDeadlineMs = performance.now() + BEGINS_WITHIN_MS;
  return async (send) => {
    let isFirst = true;
    const isDone = async (): Promise<boolean> => {
      if (await send()) return true;
      // A program that has not begun does not run either, so only the second answer counts.
      const isOver = !isFirst && !(await program.isRunning().catch(() => true));
      isFirst = false;
      return isOver;
    };
    const withinMs = Math.max(0, beginDeadlineMs - performance.now());
    await pollUntil(isDone, { withinMs, everyMs: RETRY_EVERY_MS });
  };
}

type Size = Pick<CommandTerminal, 'cols' | 'rows'>;

/** However fast a client asks, the engine has one size and one signal of its command to set at a time. */
function controls(act: {
  readonly signal: (name: CommandSignal) => Promise<void>;
  readonly resize: (size: Size) => Promise<void>;
}): Pick<ControlledCommand, 'signal' | 'resize'> {
  const resize = latestOnly(act.resize);
  return { signal: eachOnce(act.signal), resize: (cols, rows) => resize({ cols, rows }) };
}

/**
 * The size is set before the program starts, unless a resize came first: engines older than 23 take none at the start.
 * Only the program has this variable: a signal that comes early must not end the shell that starts it.
 */
const sized = (
  command: readonly string[],
  { cols, rows }: CommandTerminal,
  marker: string,
): readonly string[] => [
  'sh',
  '-c',
  `[ "$(stty size)" != "0 0" ] || stty cols "$1" rows "$2"; export ${BEGUN}="$3"; shift 3; exec "$@"`,
  'berth',
  String(cols),
  String(rows),
  marker,
  ...command,
];

/** A terminal's input has no end: closing the connection would only lose its output. */
function sendInput(into: Duplex, stdin: Buffer | Readable | undefined, ends: boolean): void {
  if (stdin === undefined) return;
  if (Buffer.isBuffer(stdin)) {
    if (ends) into.end(stdin);
    else into.write(stdin);
    return;
  }
  stdin.pipe(into, { end: ends });
  // A sender of an ended program must not wait for ever.
  into.once('close', () => stdin.unpipe(into).resume());
}

export type Ending = {
  /** Destroys the connection at once, and kills. Never throws. */
  end(): Promise<void>;
  /** Kills, and leaves the reader a moment for the remaining output. Never throws. */
  timeUp(): Promise<void>;
  /** Disarms it after the end. */
  over(): void;
  hasEnded(): boolean;
};

/**
 * `kill` ends the program behind the stream, once. The engine waits for the reader of an ended program, and the
 * container with it, so an unread connection must not stay open.
 */
export function endable(stream: Duplex, kill: () => Promise<unknown>): Ending {
  let killed: Promise<unknown> | null = null;
  let over = false;
  const killOnce = (): Promise<unknown> => {
    if (!over) killed ??= kill();
    return killed ?? Promise.resolve();
  };
  return {
    end: async () => {
      if (!over) stream.destroy();
      await killOnce();
    },
    timeUp: async () => {
      await killOnce();
      if (!(await closesWithin(stream, LET_GO_SECONDS))) stream.destroy();
    },
    over: () => {
      over = true;
    },
    hasEnded: () => killed !== null,
  };
}

/** A lost connection leaves the command its time limit. */
async function* events(
  output: AsyncIterable<ProgramOutput>,
  ending: Ending,
  ends: { readonly exitCode: () => Promise<number | null>; readonly over: () => void },
): AsyncGenerator<CommandEvent> {
  const lost = (cause?: unknown) => new OutcomeUnknown('the connection to the command was lost', { cause });
  let isCut = false;
  try {
    for await (const { stream, data } of output) yield { kind: 'output', stream, data };
  } catch (error) {
    if (!ending.hasEnded()) throw lost(error);
    isCut = true;
  }
  const exitCode = await ends.exitCode();
  // The engine closes the output of a command after its end; an earlier end is that of the connection.
  if (exitCode === null && !ending.hasEnded()) throw lost();
  ends.over();
  ending.over();
  yield { kind: 'exit', exitCode, isCut };
}

/**
 * Replaces the engine's error for a command that could not start, exit code 126 or 127, by the shell's: it names engine
 * paths. It is recognised because it is the entire output.
 */
async function* withoutReport(
  source: AsyncIterable<CommandEvent>,
  command: readonly string[],
  isStartReport: ContainerPrograms['isStartReport'],
): AsyncGenerator<CommandEvent> {
  let startReport: CommandEvent | null = null;
  let isFirst = true;
  for await (const event of source) {
    if (isFirst && event.kind === 'output' && isStartReport(event.data)) startReport = event;
    else if (startReport !== null && event.kind === 'exit' && [126, 127].includes(event.exitCode ?? 0)) {
      yield { kind: 'output', stream: 'stderr', data: Buffer.from(`${command[0]}: not found\n`) };
      yield { kind: 'exit', exitCode: COMMAND_NOT_FOUND };
    } else {
      if (startReport !== null) yield startReport;
      startReport = null;
      yield event;
    }
    isFirst = false;
  }
}
