import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { TerminalNotStarted } from '../../ports/terminal-backend.ts';
import { type EngineCalls, LIMITS } from './client.ts';
import { closesWithin, isStartReport } from './exec.ts';
import { exitCodeOf, type OpenExec } from './exec-stream.ts';

/** tmux draws at once; a plain shell may have no prompt. */
const TMUX_DRAWS_WITHIN_SECONDS = 20;
const SHELL_PROMPTS_WITHIN_SECONDS = 1;
const CLOSES_WITHIN_SECONDS = 2;
/** Processes needed to start a shell in a container: the runtime's threads, a script, its programs. */
const PROCESSES_OF_A_START = 16;

/** Waits for the first output of a terminal, which stays to be read. Throws `TerminalNotStarted` when none can come. */
export async function whenBegun(
  calls: EngineCalls,
  containerId: string,
  { exec, stream }: OpenExec,
  isTmux: boolean,
): Promise<void> {
  const seconds = isTmux ? TMUX_DRAWS_WITHIN_SECONDS : SHELL_PROMPTS_WITHIN_SECONDS;
  const first = await firstOutput(stream, seconds);
  if (first !== null && !isStartReport(first)) return;
  // A shell that runs without printing anything is fine.
  if (first === null && !(await hasEnded(stream))) return;
  const isExit = first === null && (await exitCodeOf(calls, exec)) === 0;
  if (!isExit) throw await notStarted(calls, containerId);
}

/** The error of a shell that did not begin, with what is known of the reason. */
export async function notStarted(calls: EngineCalls, containerId: string): Promise<TerminalNotStarted> {
  const isFull = await isOutOfProcesses(calls, containerId).catch(() => false);
  return new TerminalNotStarted(isFull ? 'no_processes' : 'other');
}

/** null when the stream ends or the time runs out first. */
async function firstOutput(stream: Duplex, seconds: number): Promise<Buffer | null> {
  const limit = AbortSignal.timeout(seconds * 1000);
  if (stream.readableLength === 0 && !stream.readableEnded && !stream.closed)
    await Promise.race([once(stream, 'readable', { signal: limit }), once(stream, 'close')]).catch(() => {});
  const chunk = stream.read() as Buffer | null;
  if (chunk !== null) stream.unshift(chunk);
  return chunk;
}

/** An end without output has been read when it is seen. */
const hasEnded = async (stream: Duplex): Promise<boolean> =>
  stream.readableEnded || stream.closed || (await closesWithin(stream, 0.05))
    ? await closesWithin(stream, CLOSES_WITHIN_SECONDS)
    : false;

type Pids = { readonly pids_stats?: { readonly current?: number; readonly limit?: number } };

async function isOutOfProcesses(calls: EngineCalls, containerId: string): Promise<boolean> {
  const { pids_stats: pids = {} } = await calls.read(LIMITS.inspect, async (abortSignal): Promise<Pids> => {
    const options = { stream: false as const, 'one-shot': true, abortSignal };
    return (await calls.docker.getContainer(containerId).stats(options)) as Pids;
  });
  const { current = 0, limit = 0 } = pids;
  return limit > 0 && current + PROCESSES_OF_A_START > limit;
}
