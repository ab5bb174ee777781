import type { OpenSocket, Socket } from './browser-socket.ts';
import type { InputBuffer } from './input-buffer.ts';
import { type ClientFrame, decodeFrame, encodeFrame, type ServerFrame } from './protocol.ts';

/** What one connection tells. After `closed` or `silent` nothing more comes. */
export type LineListener = {
  frame(frame: ServerFrame): void;
  bytes(data: Uint8Array): void;
  closed(code: number, reason: string, opened: boolean): void;
  /** No answer in time, to the connect or to a ping. */
  silent(): void;
};

export type LineTimes = {
  readonly handshakeMs: number;
  readonly pingEveryMs: number;
  readonly pongWithinMs: number;
};

export const LINE_TIMES: LineTimes = { handshakeMs: 30_000, pingEveryMs: 25_000, pongWithinMs: 10_000 };

const MAX_UNSENT_BYTES = 128 * 1024;
const DRAIN_POLL_MS = 15;
const FIRST_PING_MS = 1_000;

/** One WebSocket from connect to close: its frames, its heartbeat, and input as fast as it drains. */
export class Line {
  readonly #socket: Socket;
  readonly #input: InputBuffer;
  readonly #listener: LineListener;
  readonly #times: LineTimes;
  #ready = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;
  #drain: ReturnType<typeof setTimeout> | undefined;
  #first: ReturnType<typeof setTimeout> | undefined;

  constructor(
    open: (listener: Parameters<OpenSocket>[2]) => Socket,
    input: InputBuffer,
    listener: LineListener,
    times: LineTimes,
  ) {
    this.#input = input;
    this.#listener = listener;
    this.#times = times;
    this.#expectAnswer(times.handshakeMs);
    this.#socket = open({
      text: (message) => this.#onText(message),
      bytes: (data) => {
        if (this.#ready) this.#clearDeadline();
        listener.bytes(data);
      },
      closed: (code, reason, opened) => {
        this.drop();
        listener.closed(code, reason, opened);
      },
    });
  }

  /** Frames may be sent, and input flows, from now on. */
  begin(): void {
    this.#ready = true;
    this.#clearDeadline();
    this.#beat = setInterval(() => this.check(), this.#times.pingEveryMs);
    // why: a shell that is just being started would make the line look slow
    this.#first = setTimeout(() => this.check(), FIRST_PING_MS);
    this.pump();
  }

  send(frame: ClientFrame): void {
    this.#socket.send(encodeFrame(frame));
  }

  /** Asks for a sign of life; without one in time the line is `silent`. */
  check(): void {
    if (!this.#ready) return;
    this.send({ type: 'ping', t: Math.round(performance.now()) });
    if (this.#deadline === undefined) this.#expectAnswer(this.#times.pongWithinMs);
  }

  /** Sends waiting input as long as the socket takes it, and goes on when it has drained. */
  pump(): void {
    clearTimeout(this.#drain);
    if (!this.#ready) return;
    while (this.#socket.unsentBytes() < MAX_UNSENT_BYTES) {
      const piece = this.#input.next();
      if (piece === null) return;
      this.#socket.send(piece);
    }
    this.#drain = setTimeout(() => this.pump(), DRAIN_POLL_MS);
  }

  /** `final`: nobody will come back for the terminal. */
  drop(final = false): void {
    this.#ready = false;
    this.#clearDeadline();
    clearInterval(this.#beat);
    clearTimeout(this.#drain);
    clearTimeout(this.#first);
    this.#socket.drop(final);
  }

  #onText(message: string): void {
    if (this.#ready) this.#clearDeadline();
    const frame = decodeFrame(message);
    if (frame?.type === 'ack') {
      this.#input.acknowledge(frame.inputOffset);
      this.pump();
    } else if (frame !== null) this.#listener.frame(frame);
  }

  #expectAnswer(withinMs: number): void {
    this.#deadline = setTimeout(() => {
      this.drop();
      this.#listener.silent();
    }, withinMs);
  }

  #clearDeadline(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }
}
