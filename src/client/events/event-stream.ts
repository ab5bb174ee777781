import { CLOSE_CODES } from '../../protocol/close-codes.ts';
import { EVENTS_PROTOCOL, subprotocols } from '../../protocol/subprotocols.ts';
import { type Backoff, nextTryMs, RECONNECT } from '../backoff.ts';
import { HEARTBEAT_TIMES, Heartbeat, type HeartbeatTimes } from '../socket/heartbeat.ts';
import type { OpenSocket, Socket } from '../socket/socket.ts';
import { type Event, RESYNC, type Resync } from './event.ts';

export type StreamListener = {
  event(event: Event | Resync): void;
  /** Whether changes are announced from now on. */
  live(isLive: boolean): void;
  /** Whether the service answers; `askedAtMs`: when it was asked what it answered. */
  answers(answers: { readonly askedAtMs: number } | null): void;
  /** The service refuses the credential; nothing follows. */
  refused?(refusal: Error): void;
};

export type StreamDeps = {
  /** `ws://host` or `wss://host`. */
  readonly origin: string;
  readonly openSocket: OpenSocket;
  readonly token: () => Promise<string | null>;
  /** Why no connection is accepted; null when a retry makes sense. Without it, every failure is retried. */
  readonly refusal?: () => Promise<Error | null>;
  /** The last known event. */
  readonly after?: string | null;
  readonly backoff?: Backoff;
  readonly times?: HeartbeatTimes;
};

/** The types that are not about a container. */
const WITHOUT_DB_ID: ReadonlySet<string> = new Set([
  'account_updated',
  'announcement_changed',
  'health_changed',
]);

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
  #wasLive = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #handshake: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: Heartbeat | null = null;
  /** Goes up with each try, so that late answers to an earlier one are recognised. */
  #epoch = 0;

  constructor(deps: StreamDeps, listener: StreamListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.#lastId = deps.after ?? null;
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
    this.#wasLive = false;
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
        // Without a position the service cannot tell what was missed.
        if (this.#wasLive && this.#lastId === null) this.#listener.event(RESYNC);
        this.#wasLive = true;
        this.#say(true);
      },
      text: (text) => this.#onMessage(parse(text)),
      bytes: () => {},
      closed: (code, _reason, opened) => this.#onClosed(code, opened),
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
    const isKnown = WITHOUT_DB_ID.has(message.type) || typeof message.data?.['db_id'] === 'string';
    const isEvent = message.id !== undefined && isKnown;
    this.#listener.event(isEvent ? (message as unknown as Event) : RESYNC);
  }

  #onClosed(code: number, opened: boolean): void {
    const { refusal } = this.#deps;
    if (refusal === undefined || (opened && code !== CLOSE_CODES.unauthorized)) {
      this.#retryLater();
      return;
    }
    this.#abandon();
    this.#say(false);
    const epoch = this.#epoch;
    const decide = (error: Error | null): void => {
      if (epoch !== this.#epoch) return;
      if (error === null) this.#retryLater();
      else this.#listener.refused?.(error);
    };
    refusal().then(decide, () => decide(null));
  }

  #retryLater(): void {
    const { backoff = RECONNECT } = this.#deps;
    const delayMs = nextTryMs(this.#attempt, this.#comeBackMs, backoff);
    this.#abandon();
    this.#say(false);
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
