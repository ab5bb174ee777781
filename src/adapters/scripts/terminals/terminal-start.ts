import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type {
  ContainerProgram,
  ContainerPrograms,
} from '../../../ports/containers/inside/container-programs.ts';
import { TerminalNotStarted, type TerminalRequest } from '../../../ports/terminals/terminal-backend.ts';
import { closesWithin } from '../exec/closes-within.ts';
import { reportEnd, reportStart } from './open-scripts.ts';
import { HISTORY_BYTES } from './tmux/tmux-history.ts';

const REPORTS_WITHIN_SECONDS = 20;
/** tmux draws at once; a plain shell may have no prompt. */
const TMUX_DRAWS_WITHIN_SECONDS = 20;
const SHELL_PROMPTS_WITHIN_SECONDS = 1;
const CLOSES_WITHIN_SECONDS = 2;

/** More than a report, whose history has carriage returns, or a first screen. */
const MAX_BYTES = 3 * HISTORY_BYTES;

const ESCAPE = 0x1b;

/** What the program that opens a terminal reports before the terminal's own output. */
export type OpenReport = {
  readonly isTmux: boolean;
  /** The terminal has its size; an image may lack the program that sets it. */
  readonly isSized: boolean;
  readonly history: Buffer;
};

/** Reads the report, and lets tmux start. Throws `TerminalNotStarted` when none comes, and when there is no tmux to share. */
export async function openReport(
  programs: ContainerPrograms,
  runtimeId: string,
  { stream }: ContainerProgram,
  { marker, sharedAs }: TerminalRequest,
  seconds = REPORTS_WITHIN_SECONDS,
): Promise<OpenReport> {
  const [start, end] = [Buffer.from(reportStart(marker)), Buffer.from(reportEnd(marker))];
  const found = await outputUntil(stream, { seconds }, (tail) => tail.includes(end), end.length);
  const endsAt = found?.isEnough ? found.output.indexOf(end) : -1;
  if (!found || endsAt < 0 || !found.output.subarray(0, start.length).equals(start))
    throw await notStarted(programs, runtimeId);
  const rest = found.output.subarray(endsAt + end.length);
  if (rest.length > 0) stream.unshift(rest);
  const report = found.output.subarray(start.length, endsAt);
  const kindEndsAt = report.indexOf(';');
  const [kind, unsized] = report.subarray(0, kindEndsAt).toString().split(' ');
  const isTmux = kind === 'tmux';
  if (isTmux) stream.write('\n');
  else if (sharedAs !== undefined) throw new Error('nothing can be shared without tmux');
  return { isTmux, isSized: unsized === undefined, history: withoutReturns(report.subarray(kindEndsAt + 1)) };
}

/** The terminal has put a carriage return before each line feed. */
const withoutReturns = (text: Buffer): Buffer =>
  text.length === 0 ? text : Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');

/**
 * Waits for a terminal's first output without consuming it. Throws `TerminalNotStarted` when none can come, and when
 * tmux ends without drawing.
 */
export async function whenBegun(
  programs: ContainerPrograms,
  runtimeId: string,
  program: ContainerProgram,
  isTmux: boolean,
): Promise<void> {
  const { stream } = program;
  const seconds = isTmux ? TMUX_DRAWS_WITHIN_SECONDS : SHELL_PROMPTS_WITHIN_SECONDS;
  // tmux draws with escape sequences, and reports errors in plain text.
  const isDrawn = isTmux ? (output: Buffer) => output.includes(ESCAPE) : () => true;
  const first = await outputUntil(stream, { seconds }, isDrawn);
  if (first !== null) {
    // If the program still runs, it has started, no matter what it printed.
    const hasBegun = first.isEnough || !(await hasEnded(stream));
    if (hasBegun) stream.unshift(first.output);
    if (hasBegun && !programs.isStartReport(first.output)) return;
    throw await notStarted(programs, runtimeId);
  }
  // A shell that runs without output is fine.
  if (!(await hasEnded(stream))) return;
  if ((await program.exitCode()) !== 0) throw await notStarted(programs, runtimeId);
}

/** The error of a shell that did not start, with the known reason. */
export async function notStarted(
  programs: ContainerPrograms,
  runtimeId: string,
): Promise<TerminalNotStarted> {
  const isFull = await programs.isFull(runtimeId).catch(() => false);
  return new TerminalNotStarted(isFull ? 'no_processes' : 'other');
}

type Output = { readonly output: Buffer; readonly isEnough: boolean };

/**
 * Reads until the output suffices, is too long, the stream ends, or the time is over; null without output. `isEnough`
 * gets each new piece, after `overlap` bytes of what came before.
 */
export async function outputUntil(
  stream: Duplex,
  { seconds, maxBytes = MAX_BYTES }: { readonly seconds: number; readonly maxBytes?: number },
  isEnough: (tail: Buffer) => boolean,
  overlap = 0,
): Promise<Output | null> {
  const limit = AbortSignal.timeout(seconds * 1000);
  const chunks: Buffer[] = [];
  let tail = Buffer.alloc(0);
  let length = 0;
  for (;;) {
    const chunk = stream.read() as Buffer | null;
    if (chunk === null) {
      if (limit.aborted || stream.readableEnded || stream.closed)
        return chunks.length === 0 ? null : { output: Buffer.concat(chunks), isEnough: false };
      await changeOf(stream, limit);
      continue;
    }
    chunks.push(chunk);
    tail = Buffer.concat([tail.subarray(Math.max(0, tail.length - overlap)), chunk]);
    if (isEnough(tail)) return { output: Buffer.concat(chunks), isEnough: true };
    length += chunk.length;
    if (length > maxBytes) return { output: Buffer.concat(chunks), isEnough: false };
  }
}

/** Until there may be something to read, which is not certain, or the end, or the limit. */
async function changeOf(stream: Duplex, signal: AbortSignal): Promise<void> {
  const settled = new AbortController();
  const either = { signal: AbortSignal.any([signal, settled.signal]) };
  const events = ['readable', 'end', 'close'].map((event) => once(stream, event, either));
  await Promise.race(events).catch(() => {});
  settled.abort();
  await Promise.allSettled(events);
}

/** An end without output is visible only after a read. */
const hasEnded = async (stream: Duplex): Promise<boolean> =>
  stream.readableEnded || stream.closed || (await closesWithin(stream, 0.05))
    ? await closesWithin(stream, CLOSES_WITHIN_SECONDS)
    : false;
