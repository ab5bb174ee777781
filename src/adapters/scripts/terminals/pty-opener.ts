import type {
  ContainerProgram,
  ContainerPrograms,
} from '../../../ports/containers/inside/container-programs.ts';
import {
  type PtyStream,
  TerminalNotStarted,
  type TerminalRequest,
} from '../../../ports/terminals/terminal-backend.ts';
import { OPEN_TERMINAL, SHELL_WITHOUT_TTY } from './open-scripts.ts';
import { closeOpened, ptyStream } from './pty-stream.ts';
import { markOf, type TerminalEnders } from './session-killers.ts';
import { spareLine } from './spares/spare-scripts.ts';
import { endSpare, spareShells, stopWatching } from './spares/spare-shells.ts';
import { type OpenReport, openReport, whenBegun } from './terminal-start.ts';
import { tmuxAttachment } from './tmux/tmux-attachment.ts';
import { asScrollback, HISTORY_BYTES, HISTORY_ROWS } from './tmux/tmux-history.ts';

export type ShellKind = 'in_tmux' | 'plain' | 'without_tty';
export type Started = OpenReport & { readonly opened: ContainerProgram; readonly pty: PtyStream };
const ENVIRONMENT = { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8' };
/** A spare already runs, so its report comes sooner. */
const SPARE_REPORTS_WITHIN_SECONDS = 5;
const NO_REPORT: OpenReport = { isTmux: false, isSized: false, history: Buffer.alloc(0) };

/** Starts a terminal's program: a new one (`start`) or a waiting spare (`startSpare`). */
export function ptyOpener(programs: ContainerPrograms, enders: TerminalEnders) {
  const spares = spareShells(programs, ENVIRONMENT, OPEN_TERMINAL);

  async function start(runtimeId: string, request: TerminalRequest, shell: ShellKind): Promise<Started> {
    const { marker, startAfter } = request;
    const tty = shell !== 'without_tty';
    const opened = await programs.start(runtimeId, {
      command: ['sh', '-c', ...openingCommand(request, shell)],
      env: { ...ENVIRONMENT, BERTH_TERM: marker },
      form: tty ? 'terminal' : 'joined',
      stdin: true,
      ...(startAfter === undefined ? {} : { startAfter }),
    });
    const end = () => enders.attached(runtimeId, [markOf(marker)], opened);
    const report = tty ? openReport(programs, runtimeId, opened, request) : NO_REPORT;
    const reported = await undoOnFailure(report, () => closeOpened(opened, end));
    return asStarted(programs, runtimeId, request, { opened, end, ...reported });
  }

  /** Null when no spare waits, or when it did not answer and was ended: it may have died unnoticed. */
  async function startSpare(runtimeId: string, request: TerminalRequest): Promise<Started | null> {
    const line = spareLine(request.marker, openingArguments(request, 'in_tmux'));
    const spare = line === null ? null : spares.take(runtimeId);
    if (spare === null) return null;
    const { opened } = spare;
    await undoOnFailure(request.startAfter, async () => endSpare(opened));
    stopWatching(spare);
    opened.stream.write(line);
    const end = () => enders.attached(runtimeId, [spare.mark, markOf(request.marker)], opened);
    try {
      const reported = await openReport(programs, runtimeId, opened, request, SPARE_REPORTS_WITHIN_SECONDS);
      return asStarted(programs, runtimeId, request, { opened, end, ...reported });
    } catch (error) {
      // Ended first: it must not start beside its replacement.
      await closeOpened(opened, end);
      if (error instanceof TerminalNotStarted) return null;
      throw error;
    }
  }

  return {
    start,
    startSpare,
    awaitFirstOutput: (runtimeId: string, request: TerminalRequest, started: Started) =>
      awaitFirstOutput(programs, runtimeId, request, started),
    noteOpened: spares.noteOpened,
    release: spares.release,
  };
}

function asStarted(
  programs: ContainerPrograms,
  runtimeId: string,
  request: TerminalRequest,
  { opened, end, ...report }: OpenReport & Pick<Started, 'opened'> & { readonly end: () => Promise<void> },
): Started {
  const { marker, muxSession } = request;
  const attached = { session: muxSession, shown: shownSession(request), marker };
  const tmux = report.isTmux ? tmuxAttachment(programs, runtimeId, attached) : null;
  return { ...report, opened, pty: ptyStream(opened, tmux, end) };
}

/** The terminal with its first output, and its history before that. Throws `TerminalNotStarted`. */
async function awaitFirstOutput(
  programs: ContainerPrograms,
  runtimeId: string,
  { cols, rows }: TerminalRequest,
  { opened, isTmux, isSized, history, pty }: Started,
): Promise<PtyStream> {
  // Before tmux's first draw the terminal is not raw: line enders differ, keys are signals, and some input is discarded.
  const begun = whenBegun(programs, runtimeId, opened, isTmux);
  if (!isSized) void pty.resize(cols, rows);
  await undoOnFailure(begun, () => pty.close());
  if (history.length > 0 && !opened.stream.destroyed) opened.stream.unshift(asScrollback(history, rows));
  return pty;
}

const shownSession = ({ muxSession, sharedAs }: TerminalRequest): string =>
  sharedAs?.mode === 'control' ? sharedAs.session : muxSession;

function openingCommand(request: TerminalRequest, kind: ShellKind): readonly string[] {
  const program = kind === 'without_tty' ? SHELL_WITHOUT_TTY : OPEN_TERMINAL;
  return [program, ...openingArguments(request, kind)];
}

function openingArguments(request: TerminalRequest, kind: ShellKind): readonly string[] {
  const { cols, rows, shell, muxSession, forceNew, sharedAs } = request;
  const commonArguments = ['berth', String(cols), String(rows), shell];
  if (kind === 'without_tty') return commonArguments;
  const how = kind === 'plain' ? 'plain' : forceNew ? 'new' : 'keep';
  // One byte more than is sent reveals whether there was more.
  const history = [String(HISTORY_ROWS), String(HISTORY_BYTES + 1)];
  const participant =
    sharedAs === undefined ? [] : sharedAs.mode === 'view' ? ['view'] : ['control', sharedAs.session];
  return [...commonArguments, muxSession, how, ...history, ...participant];
}

async function undoOnFailure<T>(work: T | Promise<T>, undo: () => Promise<void>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await undo().catch(() => {});
    throw error;
  }
}
