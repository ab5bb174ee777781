import type { PtyStream, TerminalRequest } from '../../../ports/terminals/terminal-backend.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { type OpenExec, openExec } from '../exec/exec-stream.ts';
import { unframed } from '../exec/raw-stream.ts';
import { OPEN_TERMINAL, SHELL_WITHOUT_TTY } from './open-scripts.ts';
import { closeOpened, ptyStream } from './pty-stream.ts';
import type { TerminalEnders } from './session-killers.ts';
import { SPARE_END, spareLine } from './spare-scripts.ts';
import { spareShells } from './spare-shells.ts';
import { type OpenReport, openReport, whenBegun } from './terminal-start.ts';
import { tmuxAttachment } from './tmux-attachment.ts';
import { asScrollback, HISTORY_BYTES, HISTORY_ROWS } from './tmux-history.ts';

export type ShellKind = 'in_tmux' | 'plain' | 'without_tty';
export type Started = OpenReport & { readonly opened: OpenExec; readonly pty: PtyStream };
const ENVIRONMENT = { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8' };
const PLAIN: OpenReport = { isTmux: false, history: Buffer.alloc(0) };

/** Starts the programs of terminals, in a spare where one waits. */
export function ptyOpener(calls: EngineCalls, ends: TerminalEnders) {
  const spares = spareShells(calls, ENVIRONMENT, OPEN_TERMINAL);

  async function start(runtimeId: string, request: TerminalRequest, shell: ShellKind): Promise<Started> {
    const { marker, startAfter } = request;
    const tty = shell !== 'without_tty';
    const raw = await openExec(calls, runtimeId, {
      command: ['sh', '-c', ...openingCommand(request, shell)],
      env: { ...ENVIRONMENT, BERTH_TERM: marker },
      tty,
      stdin: true,
      ...(startAfter === undefined ? {} : { startAfter }),
    });
    return await reported(runtimeId, request, tty ? raw : { ...raw, stream: unframed(raw.stream) }, tty);
  }

  /** Null when no spare waits, or when it has been of no use: its end is noticed late. */
  async function startSpare(runtimeId: string, request: TerminalRequest): Promise<Started | null> {
    const line = spareLine(request.marker, openingArguments(request, 'in_tmux'));
    const spare = line === null ? null : spares.take(runtimeId);
    if (spare === null) return null;
    try {
      await request.startAfter;
    } catch (error) {
      spare.stream.end(`${SPARE_END}\n`);
      throw error;
    }
    spare.stream.write(line);
    return await reported(runtimeId, request, spare, true).catch(() => null);
  }

  async function reported(
    runtimeId: string,
    request: TerminalRequest,
    opened: OpenExec,
    tty: boolean,
  ): Promise<Started> {
    const { marker, muxSession } = request;
    const end = () => ends.attached(runtimeId, marker, opened.exec);
    const report = tty ? openReport(calls, runtimeId, opened, request) : PLAIN;
    const { isTmux, history } = await unlessItFails(report, () => closeOpened(opened, end));
    const attached = { session: muxSession, shown: shownSession(request), marker };
    const tmux = isTmux ? tmuxAttachment(calls, runtimeId, attached) : null;
    return { opened, isTmux, history, pty: ptyStream(calls, opened, tmux, end) };
  }

  async function begin(
    runtimeId: string,
    { cols, rows }: TerminalRequest,
    started: Started,
  ): Promise<PtyStream> {
    const { opened, isTmux, history, pty } = started;
    // Before tmux's first draw the terminal is not raw: line ends differ, keys are signals, and some input is
    // discarded.
    const begun = whenBegun(calls, runtimeId, opened, isTmux);
    void pty.resize(cols, rows);
    await unlessItFails(begun, () => pty.close());
    if (history.length > 0 && !opened.stream.destroyed) opened.stream.unshift(asScrollback(history, rows));
    return pty;
  }

  return { start, startSpare, begin, replenish: spares.replenish, release: spares.release };
}

const shownSession = ({ muxSession, sharedAs }: TerminalRequest): string =>
  sharedAs?.mode === 'control' ? sharedAs.session : muxSession;

function openingCommand(request: TerminalRequest, kind: ShellKind): readonly string[] {
  const program = kind === 'without_tty' ? SHELL_WITHOUT_TTY : OPEN_TERMINAL;
  return [program, ...openingArguments(request, kind)];
}

function openingArguments(request: TerminalRequest, kind: ShellKind): readonly string[] {
  const { cols, rows, shell, muxSession, forceNew, sharedAs } = request;
  const size = ['berth', String(cols), String(rows), shell];
  if (kind === 'without_tty') return size;
  const how = kind === 'plain' ? 'plain' : forceNew ? 'new' : 'keep';
  // One byte more than is sent reveals whether there was more.
  const history = [String(HISTORY_ROWS), String(HISTORY_BYTES + 1)];
  const participant =
    sharedAs === undefined ? [] : sharedAs.mode === 'view' ? ['view'] : ['control', sharedAs.session];
  return [...size, muxSession, how, ...history, ...participant];
}

async function unlessItFails<T>(work: T | Promise<T>, undo: () => Promise<void>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await undo().catch(() => {});
    throw error;
  }
}
