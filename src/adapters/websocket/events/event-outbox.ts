import type { Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { RESYNC_FRAME } from './event-frames.ts';

/** Unsent bytes above which events wait here instead of in the socket. */
const FULL_BYTES = 262_144;
const MAX_WAITING = 1_000;

/**
 * The frames for one subscriber, in order. They are made once for many, and go straight to the connection below the
 * WebSocket: the library would copy and frame them for each. They wait until missed events are known, and while the socket is full; when
 * too many wait, all are dropped and the subscriber must resync.
 */
export class EventOutbox {
  readonly #socket: Pick<WebSocket, 'readyState' | 'OPEN'>;
  readonly #connection: Pick<Writable, 'write' | 'writableLength'>;
  readonly #maxWaiting: number;
  #waiting: Buffer[] = [];
  #isPaused = true;
  #full = false;
  #lost = false;
  #stopped = false;

  constructor(
    socket: Pick<WebSocket, 'readyState' | 'OPEN'>,
    connection: Pick<Writable, 'write' | 'writableLength'>,
    maxWaiting = MAX_WAITING,
  ) {
    this.#socket = socket;
    this.#connection = connection;
    this.#maxWaiting = maxWaiting;
  }

  send(frame: Buffer): void {
    if (this.#stopped || this.#lost) return;
    if (!this.#isPaused && !this.#full) this.#put(frame);
    else if (this.#waiting.length < this.#maxWaiting) this.#waiting.push(frame);
    else this.#lose();
  }

  /** Sends the missed events, then those that came meanwhile. null: they are unavailable. */
  begin(missed: readonly Buffer[] | null): void {
    this.#isPaused = false;
    if (missed === null) this.#lose();
    else if (!this.#lost) this.#waiting = [...missed, ...this.#waiting];
    this.#flush();
  }

  /** Events were missed. */
  resync(): void {
    this.#lose();
    if (!this.#isPaused) this.#flush();
  }

  /** Skips the queue; never delayed behind events. */
  sendNow(frame: Buffer): void {
    if (!this.#stopped && !this.#full) this.#put(frame);
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
  }

  #lose(): void {
    this.#waiting = [];
    this.#lost = true;
  }

  #put(frame: Buffer): void {
    // After a close frame nothing may follow.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#full = this.#connection.writableLength + frame.length >= FULL_BYTES;
    if (this.#full) this.#connection.write(frame, this.#drained);
    else this.#connection.write(frame);
  }

  readonly #drained = (): void => {
    this.#full = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#stopped || this.#full) return;
    if (this.#lost) {
      this.#lost = false;
      this.#put(RESYNC_FRAME);
    }
    const waiting = this.#waiting;
    let sent = 0;
    for (; sent < waiting.length && !this.#full; sent += 1) this.#put(waiting[sent] as Buffer);
    this.#waiting = waiting.slice(sent);
  }
}
