import { type Backoff, RECONNECT, retryDelayMs, toldDelayMs } from '../terminal/backoff.ts';
import type { OpenSocket, Socket } from '../terminal/browser-socket.ts';

/** A change of a container; null: anything may have changed. */
export type News = { readonly id: string; readonly dbId: string } | null;

export type StreamListener = {
  news(news: News): void;
  /** Whether news come by themselves from now on. */
  live(isLive: boolean): void;
};

export type StreamDeps = {
  /** `ws://host` or `wss://host`. */
  readonly origin: string;
  readonly openSocket: OpenSocket;
  readonly token: () => Promise<string | null>;
  readonly backoff?: Backoff;
  readonly pingEveryMs?: number;
  readonly pongWithinMs?: number;
};

const PROTOCOL = 'berth.events.v1';
const PING_EVERY_MS = 25_000;
const PONG_WITHIN_MS = 10_000;

type Message = {
  readonly type: string;
  readonly id?: string;
  readonly data?: Record<string, unknown>;
  readonly retry_ms?: unknown;
};

function parse(text: string): Message | null {
  try {
    const value = JSON.parse(text) as Message | null;
    return typeof value?.type === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** The service's events, kept coming across lost lines: what was missed meanwhile is asked for. */
export class EventStream {
  readonly #deps: StreamDeps;
  readonly #listener: StreamListener;
  #socket: Socket | null = null;
  #lastId: string | null = null;
  #attempt = 0;
  /** What the service has said before it ends. */
  #comeBackMs: number | null = null;
  /** What was told last; null: nothing yet. */
  #live: boolean | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  /** Goes up with each try, so that late answers to an earlier one are recognised. */
  #epoch = 0;

  constructor(deps: StreamDeps, listener: StreamListener) {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** Connects now, whatever was planned. */
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
    if (this.#live === true) this.#ping();
    else if (this.#socket === null) this.open();
  }

  close(): void {
    this.#abandon();
    this.#live = null;
  }

  #dial(token: string): void {
    const after = this.#lastId === null ? '' : `?after=${encodeURIComponent(this.#lastId)}`;
    const { origin, openSocket, pingEveryMs = PING_EVERY_MS } = this.#deps;
    this.#expectAnswer();
    this.#socket = openSocket(`${origin}/api/events${after}`, [PROTOCOL, `bearer.${token}`], {
      opened: () => {
        this.#answered();
        this.#attempt = 0;
        this.#beat = setInterval(() => this.#ping(), pingEveryMs);
        this.#say(true);
      },
      text: (text) => this.#onMessage(parse(text)),
      bytes: () => {},
      closed: () => this.#retryLater(),
    });
  }

  #onMessage(message: Message | null): void {
    this.#answered();
    if (message === null || message.type === 'pong') return;
    if (message.type === 'restarting') {
      this.#comeBackMs = Number(message.retry_ms);
      return;
    }
    if (message.type === 'resync') this.#lastId = null;
    if (message.id !== undefined) this.#lastId = message.id;
    const { id, db_id: dbId } = message.data ?? {};
    this.#listener.news(typeof dbId === 'string' ? { id: String(id), dbId } : null);
  }

  #ping(): void {
    this.#expectAnswer();
    this.#socket?.send(JSON.stringify({ type: 'ping', t: Math.round(performance.now()) }));
  }

  #expectAnswer(): void {
    this.#deadline ??= setTimeout(() => this.#retryLater(), this.#deps.pongWithinMs ?? PONG_WITHIN_MS);
  }

  #answered(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  #retryLater(): void {
    const { backoff = RECONNECT } = this.#deps;
    const told = toldDelayMs(this.#comeBackMs, backoff);
    this.#abandon();
    this.#say(false);
    const delayMs = told ?? retryDelayMs(this.#attempt, Math.random(), backoff);
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
    this.#answered();
    clearInterval(this.#beat);
    this.#socket?.drop(true);
    this.#socket = null;
    this.#comeBackMs = null;
    this.#epoch += 1;
  }
}
