import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import {
  type PtyStream,
  type TerminalBackend,
  TerminalNotStarted,
  type TerminalRequest,
} from '../../../ports/terminals/terminal-backend.ts';
import { type EngineCalls, engineCalls, inContainer, LIMITS } from '../engine/engine-client.ts';
import { runScript } from '../exec/exec.ts';
import { exitCodeOf, type OpenExec, openExec } from '../exec/exec-stream.ts';
import { unframed } from '../exec/raw-stream.ts';
import { InputWriter, PLAIN_INPUT, TMUX_INPUT } from './input-writer.ts';
import { HAS_TMUX, OPEN_TERMINAL, SHELL_WITHOUT_TTY } from './open-scripts.ts';
import { terminalEnders } from './session-killers.ts';
import { listLeftovers } from './terminal-leftovers.ts';
import { notStarted, type OpenReport, openReport, whenBegun } from './terminal-start.ts';
import { type TmuxAttachment, tmuxAttachment } from './tmux-attachment.ts';
import { asScrollback, HISTORY_BYTES, HISTORY_ROWS } from './tmux-history.ts';

type ShellKind = 'in_tmux' | 'plain' | 'without_tty';
type Started = OpenReport & { readonly opened: OpenExec; readonly pty: PtyStream };
const PLAIN: OpenReport = { isTmux: false, history: Buffer.alloc(0) };

/** Terminals in containers of one Docker engine: inside tmux where the image has it. */
export function dockerTerminals(docker: Docker): TerminalBackend {
  const calls = engineCalls(docker);
  const hasTmux = tmuxFinder(calls);
  const ends = terminalEnders(calls);

  async function start(runtimeId: string, request: TerminalRequest, shell: ShellKind): Promise<Started> {
    const { marker, muxSession, startAfter } = request;
    const tty = shell !== 'without_tty';
    const raw = await openExec(calls, runtimeId, {
      command: ['sh', '-c', ...openingCommand(request, shell)],
      env: { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8', BERTH_TERM: marker },
      tty,
      stdin: true,
      ...(startAfter === undefined ? {} : { startAfter }),
    });
    const opened = tty ? raw : { ...raw, stream: unframed(raw.stream) };
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

  const openAs = async (runtimeId: string, request: TerminalRequest, shell: ShellKind): Promise<PtyStream> =>
    begin(runtimeId, request, await start(runtimeId, request, shell));

  /** Whatever keeps tmux from getting its terminal may affect the engine too. */
  async function openFallback(
    runtimeId: string,
    request: TerminalRequest,
    error: unknown,
  ): Promise<PtyStream> {
    if (!mayFallBack(request, error)) throw error;
    const pty = await openAs(runtimeId, request, 'plain').catch((error: unknown) => {
      if (!mayFallBack(request, error)) throw error;
      return openAs(runtimeId, request, 'without_tty');
    });
    return { ...pty, isFallback: true };
  }

  return {
    async open({ runtimeId, ownerId }, request) {
      calls.slots.belongs(runtimeId, ownerId);
      let isPlain = false;
      try {
        const started = await start(runtimeId, request, 'in_tmux');
        isPlain = !started.isTmux;
        return await begin(runtimeId, request, started);
      } catch (error) {
        if (isPlain) throw error;
        return await openFallback(runtimeId, request, error);
      }
    },
    hasMultiplexer: async ({ runtimeId }) => await inContainer(hasTmux(runtimeId)),

    async killMuxSession({ runtimeId }: RuntimeHandle, name, isWanted = NOBODY) {
      try {
        await inContainer(ends.session(runtimeId, { name, isWanted }));
      } catch (error) {
        // A container that is gone or stopped has no session.
        if (!(error instanceof ContainerNotRunning)) throw error;
      }
    },
    leftovers: ({ runtimeId }) => listLeftovers(calls, runtimeId),
    endMarked: ({ runtimeId }, marker) => ends.leftover(runtimeId, marker),
  };
}

/** A shell of their own does not help participants, and a full container has no processes for it. */
const mayFallBack = ({ sharedAs }: TerminalRequest, error: unknown): boolean =>
  sharedAs === undefined && error instanceof TerminalNotStarted && error.fault === 'other';

const shownSession = ({ muxSession, sharedAs }: TerminalRequest): string =>
  sharedAs?.mode === 'control' ? sharedAs.session : muxSession;

function openingCommand(request: TerminalRequest, kind: ShellKind): readonly string[] {
  const { cols, rows, shell, muxSession, forceNew, sharedAs } = request;
  const size = ['berth', String(cols), String(rows), shell];
  if (kind === 'without_tty') return [SHELL_WITHOUT_TTY, ...size];
  const how = kind === 'plain' ? 'plain' : forceNew ? 'new' : 'keep';
  // One byte more than is sent reveals whether there was more.
  const history = [String(HISTORY_ROWS), String(HISTORY_BYTES + 1)];
  const participant =
    sharedAs === undefined ? [] : [sharedAs.mode, sharedAs.mode === 'control' ? sharedAs.session : ''];
  return [OPEN_TERMINAL, ...size, muxSession, how, ...history, ...participant];
}

/** A container without tmux is asked again, since it may be installed. */
function tmuxFinder(calls: EngineCalls): (runtimeId: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (runtimeId) => {
    if (known.has(runtimeId)) return true;
    const answer = (await runScript(calls, runtimeId, HAS_TMUX, [])).trim();
    if (answer === '') throw await notStarted(calls, runtimeId);
    if (answer === 'yes') known.add(runtimeId);
    return answer === 'yes';
  };
}

async function unlessItFails<T>(work: T | Promise<T>, undo: () => Promise<void>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await undo().catch(() => {});
    throw error;
  }
}

/** An unread stream would delay the engine at the process's end, one after the other. */
async function closeOpened({ stream }: OpenExec, end: () => Promise<void>): Promise<void> {
  stream.destroy();
  await end();
}

const NOBODY = async (): Promise<boolean> => false;

const LOST: StreamEnd = { kind: 'lost' };

function ptyStream(
  calls: EngineCalls,
  opened: OpenExec,
  tmux: TmuxAttachment | null,
  endAttachment: () => Promise<void>,
): PtyStream {
  const { exec, stream } = opened;
  const input = new InputWriter(stream, tmux === null ? PLAIN_INPUT : TMUX_INPUT);
  let closing: Promise<void> | null = null;
  const redraw = async (): Promise<void> => await tmux?.redraw().catch(() => {});
  return {
    stream,
    write(bytes, done = () => {}) {
      corkForTurn(stream);
      input.write(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, done);
    },
    muxSession: tmux?.session ?? null,
    resize: (cols, rows) => resizeQuietly(calls, exec, cols, rows),
    requestScrollback: async (room) =>
      (await tmux?.requestScrollback(room).catch(() => null)) ?? { program: 'shell', snapshot: null },
    redraw,
    async ending() {
      await new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once('close', resolve)));
      // The end of an attachment says nothing about the session.
      if (tmux !== null) return await tmux.ending().catch(() => LOST);
      const code = await exitCodeOf(calls, exec);
      return code === null ? LOST : { kind: 'exited', code };
    },
    close: () => {
      closing ??= closeOpened(opened, endAttachment).catch((error: unknown) => {
        closing = null;
        throw error;
      });
      return closing;
    },
  };
}

/** Joins the input of one event loop turn: small frames cost the engine as much as large ones. */
function corkForTurn(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

/** A terminal that is starting or has ended cannot be resized; Podman answers 201. All are fine. */
async function resizeQuietly(
  calls: EngineCalls,
  exec: Docker.Exec,
  cols: number,
  rows: number,
): Promise<void> {
  const resized = calls.read(LIMITS.inspect, (abortSignal) => exec.resize({ w: cols, h: rows, abortSignal }));
  await resized.catch(() => {});
}
