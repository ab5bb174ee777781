import { randomUUID } from 'node:crypto';
import type { AgentEnd } from '../../domain/containers/agents/agent.ts';
import { unreachable } from '../../domain/result.ts';
import type { AgentLine, AgentLines } from '../../ports/containers/agents/agent-lines.ts';
import { RuntimeBusy, type RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  AGENT_PROTOCOL_VERSION,
  type CloseReason,
  encodeWelcome,
  type Greeting,
  type Line,
  Peer,
  REQUEST_KEPT_MS,
  SESSION_KEPT_MS,
} from '../../protocol/agent/index.ts';

const FLUSH_MS = 50;
const ELSEWHERE_RETRY_SECONDS = 1;

/** An agent's socket. */
export type AgentSocketLine = Line & {
  /** Says why, and closes. */
  close(reason: CloseReason): void;
};

/** What an agent's socket calls. */
export type AttachedLine = {
  /** A message has arrived. */
  receive(bytes: Uint8Array): void;
  /** The line has sent what waited. */
  drained(): void;
  /** The line is gone; its session waits for another. */
  gone(): void;
};

type Session = {
  readonly id: string;
  readonly peer: Peer;
  epoch: number;
  givesTerminals: boolean;
  line: AgentSocketLine | null;
  keptBy: NodeJS.Timeout | undefined;
  requestsKeptBy: NodeJS.Timeout | undefined;
};

/**
 * The sessions of the agents at this process. A session outlives its connection for five minutes, and so do its shells;
 * other requests are answered after half a minute.
 */
export class AgentHub implements AgentLines {
  readonly #sessions = new Map<string, Session>();
  readonly #log: Logger;
  readonly #requestsKeptMs: number;
  readonly #unflushed = new Set<Peer>();
  #isLeaving = false;

  constructor(log: Logger, requestsKeptMs = REQUEST_KEPT_MS) {
    this.#log = log;
    this.#requestsKeptMs = requestsKeptMs;
  }

  /** The service stops: what runs in agents stays for its return. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  sessions(): readonly AgentLine[] {
    return [...this.#sessions].map(([dbId, { epoch }]) => ({ dbId, epoch }));
  }

  count(): number {
    return [...this.#sessions.values()].filter(({ line }) => line !== null).length;
  }

  isHere(dbId: string): boolean {
    return (this.#sessions.get(dbId)?.line ?? null) !== null;
  }

  /** The session of a connected agent. Throws `RuntimeBusy` when its connection is at another process. */
  peerOf(handle: RuntimeHandle): Peer {
    return this.#connected(handle).peer;
  }

  /** Whether a connected agent gives commands terminals. Throws like `peerOf`. */
  givesTerminals(handle: RuntimeHandle): boolean {
    return this.#connected(handle).givesTerminals;
  }

  /** Answers a greeting, and continues the agent's session over this line if both sides have all of it. */
  attach({ dbId, epoch }: AgentLine, line: AgentSocketLine, greeting: Greeting): AttachedLine {
    const known = this.#sessions.get(dbId);
    const resumed =
      known !== undefined && known.id === greeting.session && known.peer.canResume(greeting.received);
    const session = resumed ? known : this.#begin(dbId);
    stopWaiting(session);
    session.line?.close('replaced');
    Object.assign(session, { line, epoch, givesTerminals: greeting.command_terminals });
    if (!resumed) known?.line?.close('replaced');
    if (!resumed) known?.peer.end();
    const { id, peer } = session;
    const { received } = peer;
    line.send(encodeWelcome({ version: AGENT_PROTOCOL_VERSION, session: id, resumed, received }));
    peer.attach(line, resumed ? greeting.received : 0);
    return {
      receive: (bytes) => {
        if (session.line !== line) return;
        peer.receive(bytes);
        this.#flushSoon(peer);
      },
      drained: () => peer.pump(),
      gone: () => this.#detach(dbId, session, line),
    };
  }

  end({ dbId, epoch }: AgentLine, reason: AgentEnd): void {
    const session = this.#sessions.get(dbId);
    // A newer connection of this process has taken over.
    if (session === undefined || session.epoch !== epoch) return;
    const { line } = session;
    line?.close(CLOSED_FOR[reason]);
    switch (reason) {
      case 'replaced':
      case 'lost':
        return;
      case 'moved':
      case 'stopped':
      case 'forgotten':
        this.#drop(dbId, session);
        return;
      default:
        unreachable(reason);
    }
  }

  /** From now on the end of a terminal leaves its shell in the agent. */
  leaveShells(): void {
    this.#isLeaving = true;
  }

  /** The service stops: the agents come back to it, or to another process. */
  leave(): void {
    for (const { line } of this.#sessions.values()) line?.close('restarting');
  }

  #connected({ runtimeId }: RuntimeHandle): Session {
    const session = this.#sessions.get(runtimeId.replace(/^agent:/, ''));
    if (session === undefined || session.line === null)
      throw new RuntimeBusy('agent_elsewhere', ELSEWHERE_RETRY_SECONDS);
    return session;
  }

  #begin(dbId: string): Session {
    const peer = new Peer({
      role: 'service',
      broken: (message) => {
        this.#log.warn({ dbId, fault: message }, 'an agent broke the protocol');
        session.line?.close('protocol');
        this.#drop(dbId, session);
      },
    });
    const none = { givesTerminals: false, line: null, keptBy: undefined, requestsKeptBy: undefined };
    const session: Session = { id: randomUUID(), peer, epoch: 0, ...none };
    this.#sessions.set(dbId, session);
    return session;
  }

  #detach(dbId: string, session: Session, line: AgentSocketLine): void {
    if (session.line !== line) return;
    session.line = null;
    session.peer.detach();
    stopWaiting(session);
    session.keptBy = setTimeout(() => this.#drop(dbId, session), SESSION_KEPT_MS).unref();
    session.requestsKeptBy = setTimeout(() => session.peer.giveUpRequests(), this.#requestsKeptMs).unref();
  }

  #drop(dbId: string, session: Session): void {
    stopWaiting(session);
    session.line = null;
    if (this.#sessions.get(dbId) === session) this.#sessions.delete(dbId);
    session.peer.end();
  }

  /** Acknowledges what has arrived, a little later for all at once. */
  #flushSoon(peer: Peer): void {
    if (this.#unflushed.size === 0) setTimeout(() => this.#flush(), FLUSH_MS).unref();
    this.#unflushed.add(peer);
  }

  #flush(): void {
    for (const peer of this.#unflushed) peer.flush();
    this.#unflushed.clear();
  }
}

function stopWaiting({ keptBy, requestsKeptBy }: Session): void {
  clearTimeout(keptBy);
  clearTimeout(requestsKeptBy);
}

const CLOSED_FOR: { readonly [E in AgentEnd]: CloseReason } = {
  replaced: 'replaced',
  moved: 'replaced',
  stopped: 'stopped',
  forgotten: 'forgotten',
  lost: 'ended',
};
