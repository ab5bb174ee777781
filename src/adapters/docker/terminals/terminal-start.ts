import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { TerminalNotStarted } from '../../../ports/terminals/terminal-backend.ts';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';
import { closesWithin, exitCodeOf, isStartReport, type OpenExec } from '../exec/exec-stream.ts';

/** tmux draws at once; a plain shell may have no prompt. */
const TMUX_DRAWS_WITHIN_SECONDS = 20;
const SHELL_PROMPTS_WITHIN_SECONDS = 1;
const CLOSES_WITHIN_SECONDS = 2;
/** Processes needed to start a shell in a container: the runtime's threads, a script, its programs. */
const PROCESSES_OF_A_START = 16;

const ESCAPE = 0x1b;

/**
 * Waits for a terminal's first output without consuming it. Throws `TerminalNotStarted` when none can come, and when
 * tmux ends without drawing.
 */
export async function whenBegun(
  calls: EngineCalls,
  runtimeId: string,
  { exec, stream }: OpenExec,
  isTmux: boolean,
): Promise<void> {
  const seconds = isTmux ? TMUX_DRAWS_WITHIN_SECONDS : SHELL_PROMPTS_WITHIN_SECONDS;
  const first = await firstOutput(stream, seconds, isTmux ? (output) => output.includes(ESCAPE) : () => true);
  if (first?.hasBegun && !isStartReport(first.output)) return;
  // A shell that runs without output is fine.
  if (first === null && !(await hasEnded(stream))) return;
  const isExit = first === null && (await exitCodeOf(calls, exec)) === 0;
  if (!isExit) throw await notStarted(calls, runtimeId);
}

/** The error of a shell that did not start, with the known reason. */
export async function notStarted(calls: EngineCalls, runtimeId: string): Promise<TerminalNotStarted> {
  const isFull = await isOutOfProcesses(calls, runtimeId).catch(() => false);
  return new TerminalNotStarted(isFull ? 'no_processes' : 'other');
}

type FirstOutput = { readonly output: Buffer; readonly hasBegun: boolean };

/**
 * Output until it suffices, the stream ends, or the time is over; null without output. tmux draws with escape
 * sequences, and reports errors in plain text.
 */
async function firstOutput(
  stream: Duplex,
  seconds: number,
  isEnough: (output: Buffer) => boolean,
): Promise<FirstOutput | null> {
  const limit = AbortSignal.timeout(seconds * 1000);
  const chunks: Buffer[] = [];
  for (;;) {
    if (stream.readableLength === 0 && !stream.readableEnded && !stream.closed)
      await Promise.race([once(stream, 'readable', { signal: limit }), once(stream, 'close')]).catch(
        () => {},
      );
    const chunk = stream.read() as Buffer | null;
    if (chunk !== null) chunks.push(chunk);
    const output = Buffer.concat(chunks);
    if (chunk !== null && !isEnough(output)) continue;
    if (chunks.length === 0) return null;
    // A running program has started, whatever it printed.
    const hasBegun = chunk !== null || !(await hasEnded(stream));
    if (hasBegun) stream.unshift(output);
    return { output, hasBegun };
  }
}

/** An end without output is visible only after a read. */
const hasEnded = async (stream: Duplex): Promise<boolean> =>
  stream.readableEnded || stream.closed || (await closesWithin(stream, 0.05))
    ? await closesWithin(stream, CLOSES_WITHIN_SECONDS)
    : false;

type Pids = { readonly pids_stats?: { readonly current?: number; readonly limit?: number } };

async function isOutOfProcesses(calls: EngineCalls, runtimeId: string): Promise<boolean> {
  const { pids_stats: pids = {} } = await calls.read(LIMITS.inspect, async (abortSignal): Promise<Pids> => {
    const options = { stream: false as const, 'one-shot': true, abortSignal };
    return (await calls.docker.getContainer(runtimeId).stats(options)) as Pids;
  });
  const { current = 0, limit = 0 } = pids;
  return limit > 0 && current + PROCESSES_OF_A_START > limit;
}
