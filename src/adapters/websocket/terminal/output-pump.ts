import type { WebSocket } from 'ws';
import type { InitialOutput } from '../../../app/terminals/output/initial-output.ts';
import type { TerminalStream } from '../../../app/terminals/output/terminal-stream.ts';
import { withoutQuestions } from '../../../domain/terminals/terminal-resume.ts';

/** A reader without progress for this long is closed; its terminal waits for it. */
export const STALL_MS = 60_000;
/** Unsent bytes at which sending pauses, and at which it continues. */
const PAUSE_BYTES = 1_048_576;
const RESUME_BYTES = 262_144;
const MAX_FRAME_BYTES = 65_536;
/** Above this in so short a time it is no typing: output is joined for a moment. */
const BULK_BYTES = 8_192;
const JOIN_MS = 3;
/** After this silence the next output counts as typing again. */
const QUIET_MS = 12;
/** A ping after this much output; its pong confirms everything before. */
const MARK_EVERY_BYTES = 65_536;

export type PumpListener = {
  /** All output was sent, and the program has ended. */
  over(): void;
  stalled(): void;
};

/** Sends a terminal's output from an offset on, as fast as it is received, until stopped. */
export class OutputPump {
  readonly #stream: TerminalStream;
  readonly #socket: WebSocket;
  readonly #listener: PumpListener;
  readonly #stallMs: number;
  #sent: number;
  #marked: number;
  #waiting = false;
  #stopped = false;
  #joining: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;
  /** Bytes sent since `#sinceMs`, to tell typing from bulk output. */
  #burst = 0;
  #sinceMs = 0;

  constructor(
    stream: TerminalStream,
    from: InitialOutput,
    socket: WebSocket,
    listener: PumpListener,
    stallMs = STALL_MS,
  ) {
    this.#stream = stream;
    this.#socket = socket;
    this.#listener = listener;
    this.#stallMs = stallMs;
    this.#sent = from.offset;
    this.#marked = from.offset;
    socket.on('pong', this.#onPong);
    const { offset, snapshot } = from;
    stream.show({ more: () => this.#more() }, offset + (snapshot?.length ?? 0));
    if (snapshot !== null) for (const frame of frames(snapshot)) this.#put(frame);
    else if (from.redraw) for (const frame of oldOutput(stream, offset)) this.#put(frame);
    this.#more();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#joining);
    clearTimeout(this.#stall);
    this.#socket.off('pong', this.#onPong);
  }

  /** A keystroke's echo is sent at once; bulk output is joined, up to a frame. */
  #more(): void {
    if (this.#stopped) return;
    if (this.#stream.isPaused()) this.#watch();
    if (this.#waiting) return;
    const isFrame = this.#stream.bufferedRange().end - this.#sent >= MAX_FRAME_BYTES;
    if (isFrame || this.#stream.over() || !this.#isBulk()) this.#flush();
    else this.#joining ??= setTimeout(() => this.#flush(), JOIN_MS);
  }

  #isBulk(): boolean {
    const elapsedMs = performance.now() - this.#sinceMs;
    if (elapsedMs > JOIN_MS) {
      this.#sinceMs += elapsedMs;
      this.#burst = elapsedMs > QUIET_MS ? 0 : this.#burst / 2;
    }
    return this.#burst >= BULK_BYTES;
  }

  #flush(): void {
    clearTimeout(this.#joining);
    this.#joining = undefined;
    while (!this.#stopped && !this.#waiting) {
      const frame = this.#stream.read(this.#sent, MAX_FRAME_BYTES);
      if (frame.length === 0) break;
      this.#put(frame);
      this.#waiting = this.#socket.bufferedAmount >= PAUSE_BYTES;
      if (this.#waiting) this.#watch();
    }
    if (this.#stream.over() && this.#sent === this.#stream.bufferedRange().end) this.#finish();
  }

  #put(frame: Buffer): void {
    this.#sent += frame.length;
    this.#burst += frame.length;
    this.#socket.send(frame, this.#drained);
    if (this.#sent - this.#marked < MARK_EVERY_BYTES) return;
    this.#marked = this.#sent;
    this.#socket.ping(String(this.#sent));
  }

  #finish(): void {
    if (this.#stopped) return;
    this.stop();
    this.#listener.over();
  }

  readonly #drained = (): void => {
    if (!this.#waiting || this.#socket.bufferedAmount > RESUME_BYTES) return;
    this.#waiting = false;
    this.#flush();
  };

  readonly #onPong = (data: Buffer): void => {
    const offset = Number(data);
    if (data.length > 0 && offset <= this.#sent) this.#stream.confirm(offset);
  };

  /** Checks for progress at intervals, while something waits. */
  #watch(): void {
    if (this.#stall !== undefined) return;
    const [received, left] = this.#progress();
    this.#stall = setTimeout(() => {
      this.#stall = undefined;
      if (!this.#waiting && !this.#stream.isPaused()) return;
      const now = this.#progress();
      if (now[0] > received || now[1] > left) this.#watch();
      else this.#listener.stalled();
    }, this.#stallMs);
  }

  /** The bytes that the reader has confirmed, and that this side has sent. */
  #progress(): readonly [received: number, left: number] {
    const received = this.#stream.bufferedRange().end - this.#stream.unconfirmedBytes();
    return [received, this.#sent - this.#socket.bufferedAmount];
  }
}

/** All buffered output, suitable for an empty screen. */
const oldOutput = (stream: TerminalStream, start: number): Generator<Buffer> =>
  frames(withoutQuestions(stream.range(start, stream.bufferedRange().end)));

function* frames(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) yield bytes.subarray(at, at + MAX_FRAME_BYTES);
}
