import { type Backoff, RECONNECT, requestedDelayMs, retryDelayMs } from '../../../src/client/backoff.ts';
import { EVENTS_PROTOCOL, subprotocols } from '../../../src/protocol/subprotocols.ts';
import type { OpenSocket, Socket } from '../terminal/connection/browser-socket.ts';
import { HEARTBEAT_TIMES, Heartbeat, type HeartbeatTimes } from '../terminal/heartbeat.ts';

/** A change of a container; null: anything may have changed. */
export type ChangeEvent = { readonly id: string; readonly dbId: string } | null;

export type StreamListener = {
  changed(event: ChangeEvent): void;
  /** Whether changes are announced from now on. */
  live(isLive: boolean): void;
  /** Whether the service answers; `askedAtMs`: when it was asked what it answered. */
  answers(answers: { readonly askedAtMs: number } | null): void;
};

export type StreamDeps = {
  /** `ws://host` or `wss://host`. */
  readonly origin: string;
  readonly openSocket: OpenSocket;
  readonly token: () => Promise<string | null>;
  readonly backoff?: Backoff;
  readonly times?: HeartbeatTimes;
};

const HANDSHAKE_MS = 15_000;

type Message = {
  readonly type: string;
  readonly id?: string;
  readonly data?: Record<string, unknown>;
  readonly retry_ms?: unknown;
  readonly t?: unknown;
};

function parse(text: string): Message | null {
  try {
    const value = JSON.parse(text) as Message | null;
    return typeof value?.type === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** The service's events, across lost connections: it asks for the events that it missed. */
export class EventStream {
  readonly #deps: StreamDeps;
  readonly #listener: StreamListener;
  #socket: Socket | null = null;
  #lastId: string | null = null;
  #attempt = 0;
  /** The delay that the service asked for before it ends. */
  #comeBackMs: number | null = null;
  /** The newest report; null before the first. */
  #live: boolean | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #handshake: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: Heartbeat | null = null;
  /** Goes up with each try, so that late answers to an earlier one are recognised. */
  #epoch = 0;

  constructor(deps: StreamDeps, listener: StreamListener) {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** Connects now, instead of at the next try. */
  open(): void {
    this.#abandon();
    const epoch = this.#epoch;
    this.#deps.token().then(
      (token) => {
        if (epoch !== this.#epoch) return;
        if (token === null) this.#retryLater();
        else this.#dial(token);
      },
      () => epoch === this.#epoch && this.#retryLater(),
    );
  }

  /** Tries now instead of later; when connected, checks that the line still lives. */
  nudge(): void {
    if (this.#live === true && this.#heartbeat?.isOverdue === false) this.#heartbeat.check();
    else if (this.#live === true || this.#socket === null) this.open();
  }

  /** The browser says that it is offline. */
  doubt(): void {
    if (this.#live === true) this.#heartbeat?.doubt();
  }

  close(): void {
    this.#abandon();
    this.#live = null;
  }

  #dial(token: string): void {
    const after = this.#lastId === null ? '' : `?after=${encodeURIComponent(this.#lastId)}`;
    const { origin, openSocket, times = HEARTBEAT_TIMES } = this.#deps;
    const askedAtMs = performance.now();
    const heartbeat = new Heartbeat(times, {
      ping: (t) => socket.send(JSON.stringify({ type: 'ping', t })),
      overdue: (isOverdue) => isOverdue && this.#listener.answers(null),
      silent: () => this.#retryLater(),
    });
    this.#handshake = setTimeout(() => this.#retryLater(), HANDSHAKE_MS);
    const socket = openSocket(`${origin}/api/events${after}`, subprotocols(EVENTS_PROTOCOL, token), {
      opened: () => {
        clearTimeout(this.#handshake);
        this.#attempt = 0;
        heartbeat.begin();
        this.#listener.answers({ askedAtMs });
        this.#say(true);
      },
      text: (text) => this.#onMessage(parse(text)),
      bytes: () => {},
      closed: () => this.#retryLater(),
    });
    this.#heartbeat = heartbeat;
    this.#socket = socket;
  }

  #onMessage(message: Message | null): void {
    if (message?.type === 'pong') {
      const askedAtMs = Number(message.t);
      this.#heartbeat?.answered(askedAtMs);
      this.#listener.answers({ askedAtMs });
      return;
    }
    this.#heartbeat?.heard();
    if (message === null) return;
    if (message.type === 'restarting') {
      this.#comeBackMs = Number(message.retry_ms);
      return;
    }
    if (message.type === 'resync') this.#lastId = null;
    if (message.id !== undefined) this.#lastId = message.id;
    const { id, db_id: dbId } = message.data ?? {};
    this.#listener.changed(typeof dbId === 'string' ? { id: String(id), dbId } : null);
  }

  #retryLater(): void {
    const { backoff = RECONNECT } = this.#deps;
    const requestedMs = requestedDelayMs(this.#comeBackMs, backoff);
    this.#abandon();
    this.#say(false);
    const delayMs = requestedMs ?? retryDelayMs(this.#attempt, Math.random(), backoff);
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.open(), delayMs);
  }

  #say(isLive: boolean): void {
    if (this.#live === isLive) return;
    this.#live = isLive;
    this.#listener.live(isLive);
  }

  #abandon(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#handshake);
    this.#heartbeat?.stop();
    this.#heartbeat = null;
    this.#socket?.drop(true);
    this.#socket = null;
    this.#comeBackMs = null;
    this.#epoch += 1;
  }
}
