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
import { ATTACH, FIND_TMUX, NO_TMUX, PLAIN_SHELL, SHELL_WITHOUT_TTY } from '../exec/process-scripts.ts';
import { unframed } from '../exec/raw-stream.ts';
import { InputWriter, PLAIN_INPUT, TMUX_INPUT } from './input-writer.ts';
import { terminalEnders } from './session-killers.ts';
import { listLeftovers } from './terminal-leftovers.ts';
import { notStarted, whenBegun } from './terminal-start.ts';
import { type TmuxAttachment, tmuxAttachment } from './tmux-attachment.ts';

/** Terminals in containers of one Docker engine: inside tmux where the image has it. */
export function dockerTerminals(docker: Docker): TerminalBackend {
  const calls = engineCalls(docker);
  const innerTermOf = tmuxFinder(calls);
  const ends = terminalEnders(calls);

  async function openIn(
    runtimeId: string,
    request: TerminalRequest,
    innerTerm: string | null,
    tty = true,
  ): Promise<PtyStream> {
    const { muxSession, marker, forceNew, cols, rows } = request;
    const attached = { session: muxSession, shown: shownSession(request), marker };
    const tmux = innerTerm === null ? null : tmuxAttachment(calls, runtimeId, attached);
    const raw = await openExec(calls, runtimeId, {
      command: ['sh', '-c', ...(tty ? attachCommand(request, innerTerm) : withoutTty(request))],
      env: { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8', BERTH_TERM: marker },
      tty,
      stdin: true,
    });
    const opened = tty ? raw : { ...raw, stream: unframed(raw.stream) };
    const endAttachment = () => ends.attached(runtimeId, marker, opened.exec);
    const pty = ptyStream(calls, opened, tmux, endAttachment);
    // Before tmux's first draw the terminal is not raw: line ends differ, keys are signals, and some input is
    // discarded.
    const begun = whenBegun(calls, runtimeId, opened, tmux !== null);
    const history = forceNew ? null : tmux?.putHistory(opened.stream, rows, begun).catch(() => {});
    await Promise.all([pty.resize(cols, rows), history, begun]).catch(async (error: unknown) => {
      await pty.close().catch(() => {});
      throw error;
    });
    return pty;
  }

  /** Whatever keeps tmux from getting its terminal may affect the engine too. */
  const openPlain = (runtimeId: string, request: TerminalRequest): Promise<PtyStream> =>
    openIn(runtimeId, request, null).catch((error: unknown) => {
      if (!mayFallBack(request, error)) throw error;
      return openIn(runtimeId, request, null, false);
    });

  return {
    async open({ runtimeId, ownerId }, request) {
      calls.slots.belongs(runtimeId, ownerId);
      const innerTerm = await innerTermOf(runtimeId);
      try {
        return await openIn(runtimeId, request, innerTerm);
      } catch (error) {
        if (innerTerm === null || !mayFallBack(request, error)) throw error;
        return { ...(await openPlain(runtimeId, request)), isFallback: true };
      }
    },
    hasMultiplexer: async ({ runtimeId }) => (await inContainer(innerTermOf(runtimeId))) !== null,

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

function attachCommand(request: TerminalRequest, innerTerm: string | null): readonly string[] {
  const size = [String(request.cols), String(request.rows)];
  if (innerTerm === null && request.sharedAs !== undefined)
    throw new Error('nothing can be shared without tmux');
  if (innerTerm === null) return [PLAIN_SHELL, 'berth', ...size, request.shell];
  const session = [request.muxSession, request.forceNew ? 'new' : 'keep'];
  const { sharedAs } = request;
  const participant =
    sharedAs === undefined ? [] : [sharedAs.mode, sharedAs.mode === 'control' ? sharedAs.session : ''];
  return [ATTACH, 'berth', ...size, request.shell, ...session, innerTerm, ...participant];
}

const withoutTty = ({ cols, rows, shell }: TerminalRequest): readonly string[] => [
  SHELL_WITHOUT_TTY,
  'berth',
  String(cols),
  String(rows),
  shell,
];

/**
 * The terminal type inside tmux; null for a container without tmux, which is asked again, since it may be installed.
 */
function tmuxFinder(calls: EngineCalls): (runtimeId: string) => Promise<string | null> {
  const known = new Map<string, string>();
  return async (runtimeId) => {
    const before = known.get(runtimeId);
    if (before !== undefined) return before;
    const found = (await runScript(calls, runtimeId, FIND_TMUX, [])).trim();
    if (found === '') throw await notStarted(calls, runtimeId);
    if (found === NO_TMUX) return null;
    known.set(runtimeId, found);
    return found;
  };
}

const NOBODY = async (): Promise<boolean> => false;

const LOST: StreamEnd = { kind: 'lost' };

function ptyStream(
  calls: EngineCalls,
  { exec, stream }: OpenExec,
  tmux: TmuxAttachment | null,
  endAttachment: () => Promise<void>,
): PtyStream {
  const input = new InputWriter(stream, tmux === null ? PLAIN_INPUT : TMUX_INPUT);
  let closing: Promise<void> | null = null;
  const redraw = async (): Promise<void> => await tmux?.redraw().catch(() => {});
  const close = async (): Promise<void> => {
    // An unread stream would delay the engine at the process's end, one after the other.
    stream.destroy();
    await endAttachment();
  };
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
      closing ??= close().catch((error: unknown) => {
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
