import type Docker from 'dockerode';
import { RuntimeFailure, type RuntimeHandle } from '../../ports/container-runtime.ts';
import type { PtyStream, TerminalBackend, TerminalRequest } from '../../ports/terminal-backend.ts';
import { type EngineCalls, engineCalls, LIMITS } from './client.ts';
import { endMarked, runScript } from './exec.ts';
import { exitCodeOf, type OpenExec, openExec } from './exec-stream.ts';
import { ATTACH, END_SESSIONS, FIND_TMUX, PLAIN_SHELL } from './scripts.ts';
import { listLeftovers } from './terminal-leftovers.ts';
import { type TmuxAttachment, tmuxAttachment } from './tmux-attachment.ts';
import { together } from './together.ts';

/** Twentieths of a second between hanging up and killing. */
const DETACH_POLLS = 20;
const END_POLLS = 40;
const REAP_POLLS = 100;
const END_ATTEMPTS = 5;
/** Ended by one program, whose time and arguments have an end as well. */
const MOST_MARKS = 500;
const MOST_SESSIONS = 50;

/** Terminals in containers of one Docker engine: inside tmux where the image has it. */
export function dockerTerminals(docker: Docker): TerminalBackend {
  const calls = engineCalls(docker);
  const innerTermOf = tmuxFinder(calls);
  const ends = enders(calls);
  return {
    async open({ runtimeId }, request) {
      const { muxSession, marker, forceNew, cols, rows } = request;
      const innerTerm = await innerTermOf(runtimeId);
      const attached = { session: muxSession, shown: shownSession(request), marker };
      const tmux = innerTerm === null ? null : tmuxAttachment(calls, runtimeId, attached);
      const opened = await openExec(calls, runtimeId, {
        command: ['sh', '-c', ...attachCommand(request, innerTerm)],
        env: { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8', BERTH_TERM: marker },
        tty: true,
        stdin: true,
      });
      const endAttachment = () => ended(calls, opened.exec, () => ends.attached(runtimeId, marker));
      const pty = ptyStream(calls, opened, request, tmux, endAttachment);
      const history = forceNew ? null : tmux?.putHistory(opened.stream, rows).catch(() => {});
      await Promise.all([pty.resize(cols, rows), history]);
      return pty;
    },
    hasMultiplexer: async ({ runtimeId }) => (await innerTermOf(runtimeId)) !== null,

    async killMuxSession({ runtimeId }: RuntimeHandle, name, isWanted = NOBODY) {
      try {
        await ends.session(runtimeId, { name, isWanted });
      } catch (error) {
        // A container that is gone or does not run has no session either.
        if (!(error instanceof RuntimeFailure && [404, 409].includes(error.statusCode ?? 0))) throw error;
      }
    },
    leftovers: ({ runtimeId }) => listLeftovers(calls, runtimeId),
    endMarked: ({ runtimeId }, marker) => ends.leftover(runtimeId, marker),
  };
}

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

/** Terminal type to use inside tmux; null for a container without it, which is asked again: it may come. */
function tmuxFinder(calls: EngineCalls): (containerId: string) => Promise<string | null> {
  const known = new Map<string, string>();
  return async (containerId) => {
    const before = known.get(containerId);
    if (before !== undefined) return before;
    const found = (await runScript(calls, containerId, FIND_TMUX, [])).trim();
    if (found === '') return null;
    known.set(containerId, found);
    return found;
  };
}

type Ending = { readonly name: string; readonly isWanted: () => Promise<boolean> };

const NOBODY = async (): Promise<boolean> => false;

/** A program in a container costs far more than what it does here, so what ends at the same time is ended by one. */
function enders(calls: EngineCalls) {
  const marked = (polls: number) =>
    together<string>(MOST_MARKS, (containerId, markers) => {
      const lines = markers.map((marker) => `BERTH_TERM=${marker}`).join('\n');
      return endMarked(calls, containerId, lines, polls);
    });
  return {
    attached: marked(DETACH_POLLS),
    leftover: marked(REAP_POLLS),
    session: together<Ending>(MOST_SESSIONS, async (containerId, asked) => {
      // They may have waited for those before them, and somebody may have come meanwhile.
      const wanted = await Promise.all(asked.map(({ isWanted }) => isWanted()));
      const names = asked.filter((_, at) => !wanted[at]).map(({ name }) => name);
      if (names.length === 0) return;
      const said = await runScript(calls, containerId, END_SESSIONS, [String(END_POLLS), ...names]);
      if (said !== 'end\n') throw new RuntimeFailure('sessions did not end in time', null);
    }),
  };
}

function ptyStream(
  calls: EngineCalls,
  { exec, stream }: OpenExec,
  request: TerminalRequest,
  tmux: TmuxAttachment | null,
  endAttachment: () => Promise<void>,
): PtyStream {
  let rows = request.rows;
  let closing: Promise<void> | null = null;
  const drawAnew = async (): Promise<void> => await tmux?.drawAnew().catch(() => {});
  const close = async (): Promise<void> => {
    // What nobody reads any more would keep the engine waiting at the end of the process, one after the other.
    stream.destroy();
    await endAttachment();
  };
  return {
    stream,
    muxSession: tmux?.session ?? null,
    resize(cols, newRows) {
      rows = newRows;
      return resizeQuietly(calls, exec, cols, rows);
    },
    async lookBack() {
      if (tmux === null) return 'shell';
      const found = await tmux.putHistory(stream, rows).catch(() => 'shell' as const);
      if (found === 'shell') await drawAnew();
      return found;
    },
    drawAnew,
    async exitCode() {
      await new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once('close', resolve)));
      const code = await exitCodeOf(calls, exec);
      return code === 0 && tmux !== null ? await tmux.lastExit().catch(() => null) : code;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * Closing the connection alone would leave the process running for ever. It may not even have begun when it is
 * looked for, so the engine has the last word on its end.
 */
async function ended(calls: EngineCalls, exec: Docker.Exec, end: () => Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < END_ATTEMPTS; attempt += 1) {
    await end();
    if ((await exitCodeOf(calls, exec, 0.2)) !== null) return;
  }
}

/** A terminal that has not quite begun or has just ended can not be resized; Podman answers 201. All are fine. */
async function resizeQuietly(
  calls: EngineCalls,
  exec: Docker.Exec,
  cols: number,
  rows: number,
): Promise<void> {
  const resized = calls.read(LIMITS.inspect, (abortSignal) => exec.resize({ w: cols, h: rows, abortSignal }));
  await resized.catch(() => {});
}
