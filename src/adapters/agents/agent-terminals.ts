import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import {
  type PtyStream,
  type TerminalBackend,
  TerminalNotStarted,
  type TerminalRequest,
} from '../../ports/terminals/terminal-backend.ts';
import type { Peer } from '../../protocol/agent/index.ts';
import type { AgentHub } from './agent-hub.ts';
import { ANSWER_MS, answerWithin, ask, notDone } from './requests.ts';
import { ShellStream } from './shell-stream.ts';

/** Sessions of participants, which agents do not have: a participant shows the owner's shell. */
const isParticipants = (session: string): boolean => session.startsWith('user-');

/** Shells in agents, by the name of their session. They outlive their viewers for five minutes. */
export const agentTerminals = (hub: AgentHub, answerMs = ANSWER_MS): TerminalBackend => ({
  async open(handle, request) {
    await request.startAfter;
    return await openShell(hub, handle, request, answerMs);
  },

  async checkReach(handle) {
    hub.peerOf(handle);
  },

  hasMultiplexer: async () => true,

  async killMuxSession(handle, session, isWanted) {
    if (isParticipants(session) || (await isWanted?.())) return;
    await endShell(hub.peerOf(handle), session, answerMs);
  },

  // The agent ends shells that nobody shows, so no process leaves any.
  leftovers: async () => ({ sessions: [], marks: [] }),
  endMarked: async () => {},
});

async function openShell(
  hub: AgentHub,
  handle: RuntimeHandle,
  request: TerminalRequest,
  answerMs: number,
): Promise<PtyStream> {
  const { cols, rows, muxSession: shell, forceNew, sharedAs, marker } = request;
  const peer = hub.peerOf(handle);
  const stream = new ShellStream();
  const opened = Promise.withResolvers<void>();
  const failed = (code: string): void =>
    opened.reject(new TerminalNotStarted(code === 'too_many_shells' ? 'no_processes' : 'other'));
  const channel = peer.open(
    {
      type: 'shell',
      shell,
      cols,
      rows,
      after: null,
      create: true,
      force_new: forceNew,
      env: { BERTH_TERM: marker },
      view: sharedAs?.mode === 'view',
    },
    stream.handlers(opened.resolve, failed),
  );
  if (channel === null) throw new TerminalNotStarted('no_processes');
  stream.uses(channel);
  await answerWithin(answerMs, opened.promise, () => stream.destroy(), notDone);
  const isOwners = sharedAs === undefined;
  return {
    stream,
    write: (input, done = () => {}) =>
      stream.input(typeof input === 'string' ? Buffer.from(input) : input, done),
    muxSession: null,
    async resize(newCols, newRows) {
      channel.note({ type: 'resize', cols: newCols, rows: newRows });
    },
    requestScrollback: async () => ({ program: 'shell', snapshot: null }),
    async redraw() {
      channel.note({ type: 'redraw' });
    },
    ending: () => stream.ending(),
    async close() {
      stream.destroy();
      // Without a connection, or during a restart of the service, the shell waits, and ends by itself.
      const peerNow = isOwners && !hub.isLeaving && hub.isHere(handle.runtimeId.slice('agent:'.length));
      if (peerNow) await endShell(peer, shell, answerMs);
    },
  };
}

const endShell = async (peer: Peer, shell: string, answerMs: number): Promise<void> =>
  void (await ask(peer, { type: 'end_shell', shell }, answerMs));
