import {
  type AgentDescription,
  type Channel,
  type ChannelHandlers,
  type ChannelRequest,
  encodeGreeting,
  type Line,
  Peer,
  readClose,
  readWelcome,
  SESSION_KEPT_MS,
} from '../../protocol/agent/index.ts';
import type { ConnectionEnd } from './next-try.ts';

export type SessionOptions = {
  readonly agent: AgentDescription;
  readonly opened: (request: ChannelRequest, channel: Channel) => ChannelHandlers;
  /** The session was kept in vain: its time is over. */
  readonly expired: () => void;
  readonly keptMs?: number;
};

/** What became of a line's first message. */
export type Welcomed = { readonly kind: 'welcomed'; readonly resumed: boolean } | ConnectionEnd;

/** The agent's session with the service, across connections. */
export class ServiceSession {
  readonly #options: SessionOptions;
  #id: string | null = null;
  #peer: Peer | null = null;
  #closing: ConnectionEnd | null = null;
  #expiry: NodeJS.Timeout | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** The first message of a line. */
  greeting(): Uint8Array {
    const { agent } = this.#options;
    return encodeGreeting({
      version: 1,
      session: this.#id,
      received: this.#peer?.received ?? 0,
      command_terminals: true,
      agent,
    });
  }

  /** Takes the service's first message; the session goes on, or a new one begins. */
  welcome(message: Uint8Array, line: Line): Welcomed {
    const closed = readClose(message);
    if (closed !== null) return { kind: 'closed', reason: closed.reason, words: closed.message };
    const read = readWelcome(message);
    if (!read.ok) return { kind: 'broken', words: `the service speaks no protocol of this agent` };
    const { session, resumed, received } = read.value;
    if (resumed && !(this.#id === session && this.#peer?.canResume(received))) {
      this.#drop();
      return { kind: 'broken', words: 'the service resumed another session' };
    }
    clearTimeout(this.#expiry);
    this.#closing = null;
    if (!resumed) this.#begin(session);
    this.#peer?.attach(line, resumed ? received : 0);
    return { kind: 'welcomed', resumed };
  }

  /** A later message. Returns how the line is to end, if it is. */
  receive(message: Uint8Array): ConnectionEnd | null {
    this.#peer?.receive(message);
    return this.#closing;
  }

  pump(): void {
    this.#peer?.pump();
  }

  flush(): void {
    this.#peer?.flush();
  }

  ping(): void {
    this.#peer?.ping();
  }

  /** The line is gone. The session is kept for a while. */
  detach(): void {
    this.#peer?.detach();
    clearTimeout(this.#expiry);
    if (this.#peer === null) return;
    this.#expiry = setTimeout(() => this.#expire(), this.#options.keptMs ?? SESSION_KEPT_MS).unref();
  }

  /** The agent ends: says so to the service. */
  close(): void {
    this.#peer?.sayClosing('ended');
    this.#drop();
  }

  #begin(session: string): void {
    this.#drop();
    this.#id = session;
    this.#peer = new Peer({
      role: 'agent',
      opened: this.#options.opened,
      closed: (reason, words) => {
        this.#closing = { kind: 'closed', reason, words };
      },
      broken: (words) => {
        this.#closing = { kind: 'broken', words: `the service broke the protocol: ${words}` };
        this.#drop();
      },
    });
  }

  #expire(): void {
    this.#drop();
    this.#options.expired();
  }

  #drop(): void {
    clearTimeout(this.#expiry);
    const peer = this.#peer;
    this.#peer = null;
    this.#id = null;
    peer?.end();
  }
}
