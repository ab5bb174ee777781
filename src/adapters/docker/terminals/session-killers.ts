import type Docker from 'dockerode';
import { batchByKey } from '../../../concurrency/batch.ts';
import { pollUntil } from '../../../concurrency/poll.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { type EngineCalls, LIMITS, statusOf } from '../engine/engine-client.ts';
import { endMarked, printedBy } from '../exec/exec.ts';
import { END_SESSIONS } from '../exec/process-scripts.ts';

/** Twentieths of a second between hanging up and killing. */
const DETACH_POLLS = 20;
const END_POLLS = 40;
const REAP_POLLS = 100;
/** Ended by one program, whose time and arguments have an end as well. */
const MOST_MARKS = 500;
const MOST_SESSIONS = 50;
/** Beside the polls: in a busy container each program that it starts may take a second. */
const END_SECONDS = 30;
const SAID_BYTES = 16_384;
const ATTEMPTS = 5;
const ATTEMPT_MS = 200;
const LOOK_EVERY_MS = 15;

type Ending = { readonly name: string; readonly isWanted: () => Promise<boolean> };

/** A program in a container costs far more than what it does here, so what ends at the same time is ended by one. */
export function terminalEnders(calls: EngineCalls) {
  const marked = (polls: number) =>
    batchByKey<string>(MOST_MARKS, async (runtimeId, markers) => {
      const lines = markers.map((marker) => `BERTH_TERM=${marker}`).join('\n');
      await endMarked(calls, runtimeId, lines, polls);
      return [];
    });
  const endAttached = marked(DETACH_POLLS);
  return {
    /** Ends the programs of a terminal whose own one is `exec`. Throws when that goes on. */
    attached: (runtimeId: string, marker: string, exec: Docker.Exec): Promise<void> =>
      untilEnded(calls, exec, () => endAttached(runtimeId, marker)),
    leftover: marked(REAP_POLLS),
    /** Throws when the session is still there, or nothing is known of it. */
    session: batchByKey<Ending>(MOST_SESSIONS, (runtimeId, asked) => endSessions(calls, runtimeId, asked)),
  };
}

async function endSessions(
  calls: EngineCalls,
  runtimeId: string,
  asked: readonly Ending[],
): Promise<readonly (Error | null)[]> {
  // They may have waited for those before them, and somebody may have come meanwhile.
  const wanted = await Promise.all(asked.map(({ isWanted }) => isWanted()));
  const names = asked.filter((_, at) => !wanted[at]).map(({ name }) => name);
  const args = [String(END_POLLS), ...names];
  const said =
    names.length === 0 ? '' : await printedBy(calls, runtimeId, END_SESSIONS, args, SAID_BYTES, END_SECONDS);
  const gone = new Set(said.toString('latin1').split('\n'));
  return asked.map(({ name }, at) =>
    wanted[at] || gone.has(`gone ${name}`) ? null : new RuntimeFailure('a session did not end in time'),
  );
}

/**
 * Closing the connection alone would leave the process running for ever. It may not even have begun when it is
 * looked for, so the engine has the last word on its end.
 */
async function untilEnded(calls: EngineCalls, exec: Docker.Exec, end: () => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await end();
    // The stream ends a moment before the engine writes the end down.
    const isOver = async (): Promise<boolean> => !(await isRunning(calls, exec));
    if (await pollUntil(isOver, { withinMs: ATTEMPT_MS, everyMs: LOOK_EVERY_MS })) return;
  }
  throw new RuntimeFailure('a terminal did not end in time');
}

/** An engine that was started again knows no program of before: who looks for leftovers finds those that go on. */
async function isRunning(calls: EngineCalls, exec: Docker.Exec): Promise<boolean> {
  try {
    return (await calls.read(LIMITS.inspect, (abortSignal) => exec.inspect({ abortSignal }))).Running;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
