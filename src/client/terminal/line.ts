import { HEARTBEAT_TIMES, Heartbeat, type HeartbeatTimes } from '../socket/heartbeat.ts';
import type { OpenSocket, Socket } from '../socket/socket.ts';
import type { InputBuffer } from './input-buffer.ts';

type AnyFrame = { readonly type: string };
/** The frames that every protocol of a line has. */
type LineFrame =
  | { readonly type: 'pong'; readonly t: number }
  | { readonly type: 'ack'; readonly input_offset: number };

/** The events of one connection; `closed` or `silent` is the last. `frame` gets all frames but `ack`. */
export type LineListener<F extends AnyFrame> = {
  /** Reads a frame of the protocol; null for an unknown one. */
  decode(json: string): F | null;
  frame(frame: F): void;
  bytes(data: Uint8Array): void;
  closed(code: number, reason: string, opened: boolean): void;
  /** Whether an answer to a ping is missing; the line may still recover. */
  overdue(isOverdue: boolean): void;
  /** No answer in time, to the connect or to a ping. */
  silent(): void;
};

export type LineTimes = HeartbeatTimes & { readonly handshakeMs: number };

export const LINE_TIMES: LineTimes = { ...HEARTBEAT_TIMES, handshakeMs: 30_000 };

const MAX_UNSENT_BYTES = 128 * 1024;
const DRAIN_POLL_MS = 15;
/** Earlier, the start of the shell would count as latency. */
const FIRST_PING_MS = 1_000;

/** One WebSocket from connect to close: its frames, its heartbeat, and input as fast as it drains. */
export class Line<F extends AnyFrame, C extends AnyFrame> {
  readonly #socket: Socket;
  readonly #input: InputBuffer;
  readonly #listener: LineListener<F>;
  readonly #heartbeat: Heartbeat;
  readonly #handshake: ReturnType<typeof setTimeout>;
  #ready = false;
  #drain: ReturnType<typeof setTimeout> | undefined;

  constructor(
    open: (listener: Parameters<OpenSocket>[2]) => Socket,
    input: InputBuffer,
    listener: LineListener<F>,
    times: LineTimes,
  ) {
    this.#input = input;
    this.#listener = listener;
    const silent = (): void => {
      this.drop();
      listener.silent();
    };
    this.#heartbeat = new Heartbeat(times, {
      ping: (t) => this.#socket.send(JSON.stringify({ type: 'ping', t })),
      overdue: (isOverdue) => listener.overdue(isOverdue),
      silent,
    });
    this.#handshake = setTimeout(silent, times.handshakeMs);
    this.#socket = open({
      text: (message) => this.#onText(message),
      bytes: (data) => {
        if (this.#ready) this.#heartbeat.heard();
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
    clearTimeout(this.#handshake);
    this.#heartbeat.begin(FIRST_PING_MS);
    this.pump();
  }

  send(frame: C): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Pings the service; without an answer in time the line is `overdue`, then `silent`. */
  check(): void {
    if (this.#ready) this.#heartbeat.check();
  }

  /** The browser reports that it is offline: `overdue` until a ping is answered. */
  doubt(): void {
    if (this.#ready) this.#heartbeat.doubt();
  }

  /** Sends waiting input while the socket takes it, and continues when it has drained. */
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

  /** Stops reading, until `resume`; false where the platform cannot. */
  pause(): boolean {
    if (this.#socket.flow === undefined) return false;
    this.#heartbeat.rest();
    this.#socket.flow.pause();
    return true;
  }

  resume(): void {
    this.#socket.flow?.resume();
    if (this.#ready) this.#heartbeat.begin();
  }

  /** `final`: the terminal is no longer needed. */
  drop(final = false): void {
    this.#ready = false;
    this.#heartbeat.stop();
    clearTimeout(this.#handshake);
    clearTimeout(this.#drain);
    this.#socket.drop(final);
  }

  #onText(message: string): void {
    const frame = this.#listener.decode(message);
    const own = frame as LineFrame | null;
    if (this.#ready && own?.type !== 'pong') this.#heartbeat.heard();
    if (own?.type === 'pong') this.#heartbeat.answered(own.t);
    if (own?.type === 'ack') {
      this.#input.acknowledge(own.input_offset);
      this.pump();
    } else if (frame !== null) this.#listener.frame(frame);
  }
}
