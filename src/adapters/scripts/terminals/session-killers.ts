import { batchByKey } from '../../../concurrency/batch.ts';
import { pollUntil } from '../../../concurrency/poll.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerProgram,
  ContainerPrograms,
} from '../../../ports/containers/inside/container-programs.ts';
import { END_SESSIONS } from '../exec/process-scripts.ts';
import { endMarked, printedBy } from '../exec/run-script.ts';

/** Twentieths of a second between SIGHUP and SIGKILL. */
const DETACH_POLLS = 20;
const END_POLLS = 40;
const REAP_POLLS = 100;
/** For one program, whose time and arguments are limited. */
const MOST_MARKS = 500;
const MOST_SESSIONS = 50;
/** Besides the polls: in a busy container each started program may take a second. */
const END_SECONDS = 30;
const SAID_BYTES = 16_384;
const ATTEMPTS = 5;
const ATTEMPT_MS = 200;
const CHECK_EVERY_MS = 15;

type Ending = { readonly name: string; readonly isWanted: () => Promise<boolean> };

export type TerminalEnders = ReturnType<typeof terminalEnders>;

/** Starting a program in a container costs far more than its work, so one program ends everything requested at once. */
export function terminalEnders(programs: ContainerPrograms) {
  const marked = (polls: number) =>
    batchByKey<string>(MOST_MARKS, async (runtimeId, marks) => {
      await endMarked(programs, runtimeId, marks.join('\n'), polls);
      return [];
    });
  const endAttached = marked(DETACH_POLLS);
  const endLeft = marked(REAP_POLLS);
  return {
    /** Ends the programs with these NAME=VALUE marks, which `program` started. Throws when they remain. */
    attached: (runtimeId: string, marks: readonly string[], program: ContainerProgram): Promise<void> =>
      untilEnded(
        program,
        async () => void (await Promise.all(marks.map((mark) => endAttached(runtimeId, mark)))),
      ),
    leftover: (runtimeId: string, marker: string) => endLeft(runtimeId, markOf(marker)),
    /** Throws when the session remains or its state is unknown. */
    session: batchByKey<Ending>(MOST_SESSIONS, (runtimeId, asked) => endSessions(programs, runtimeId, asked)),
  };
}

/** The mark of a terminal's programs, as a NAME=VALUE of their environment. */
export const markOf = (marker: string): string => `BERTH_TERM=${marker}`;

async function endSessions(
  programs: ContainerPrograms,
  runtimeId: string,
  asked: readonly Ending[],
): Promise<readonly (Error | null)[]> {
  // They may have waited for earlier ones, and a client may have come meanwhile.
  const wanted = await Promise.all(asked.map(({ isWanted }) => isWanted()));
  const names = asked.filter((_, at) => !wanted[at]).map(({ name }) => name);
  const args = [String(END_POLLS), ...names];
  const said =
    names.length === 0
      ? ''
      : await printedBy(programs, runtimeId, END_SESSIONS, args, SAID_BYTES, END_SECONDS);
  const gone = new Set(said.toString('latin1').split('\n'));
  return asked.map(({ name }, at) =>
    wanted[at] || gone.has(`gone ${name}`) ? null : new RuntimeFailure('a session did not end in time'),
  );
}

/**
 * Closing the connection alone would leave the process running. It may not have started when it is searched for, so the
 * engine decides about its end.
 */
async function untilEnded(program: ContainerProgram, end: () => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await end();
    // The stream ends a moment before the engine records the end.
    const isOver = async (): Promise<boolean> => !(await program.isRunning());
    if (await pollUntil(isOver, { withinMs: ATTEMPT_MS, everyMs: CHECK_EVERY_MS })) return;
  }
  throw new RuntimeFailure('a terminal did not end in time');
}
