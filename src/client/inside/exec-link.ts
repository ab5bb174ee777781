import {
  EXEC_STREAMS,
  type ExecClientFrame,
  type ExecServerFrame,
  type ExecSignal,
  type ExecStart,
  type ExecStream,
  encodeExecFrame,
} from '../../protocol/exec-frames.ts';
import { deferred } from '../deferred.ts';
import { Queue } from '../queue.ts';
import { BerthError } from '../request/errors.ts';
import { endedByClient } from './exec-failures.ts';
import { ExecInput } from './exec-input.ts';
import { type ExecDial, ExecSockets } from './exec-sockets.ts';

/** A piece of output, as the command wrote it. */
export type CommandOutput = { readonly stream: ExecStream; readonly bytes: Uint8Array };

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** How much output may wait for the loop. */
const WINDOW_BYTES = 1_048_576;
/** New room is granted in portions of this size. */
const PORTION_BYTES = 262_144;
const PIECE_BYTES = 65_536;

/** A command over its sockets: output and input continue at the byte. */
export class ExecLink {
  readonly started: Promise<void>;
  readonly exitCode: Promise<number | null>;
  /** Resolves when the command is over, for any reason. */
  readonly over: Promise<void>;
  readonly output: Queue<CommandOutput>;
  readonly #sockets: ExecSockets;
  readonly #start: ExecStart & { readonly run: string };
  readonly #input = new ExecInput();
  readonly #started = deferred<void>();
  readonly #exited = deferred<number | null>();
  /** Whether frames about the command may be sent on the socket. */
  #isLive = false;
  #isOver = false;
  /** Bytes of output that have come, that the loop has taken, and that the service may send. */
  #flow = { received: 0, taken: 0, allowed: 0 };
  #inputEnds = false;
  #signals: ExecSignal[] = [];
  #size: TerminalSize | null = null;
  #wake = (): void => {};

  constructor(dial: ExecDial, start: ExecStart & { readonly run: string }, onLost: () => unknown = () => {}) {
    this.#start = start;
    this.started = this.#started.promise;
    this.exitCode = this.#exited.promise;
    // A reader of the loop learns of a failure there.
    this.started.catch(() => {});
    this.exitCode.catch(() => {});
    this.over = this.exitCode.then(
      () => {},
      () => {},
    );
    this.output = new Queue(
      ({ bytes }) => this.#took(bytes.length),
      () => this.fail(endedByClient(), 'quietly'),
    );
    this.#sockets = new ExecSockets(dial, {
      opened: () => this.#onOpened(),
      frame: (frame) => this.#onFrame(frame),
      bytes: (data) => this.#onBytes(data),
      lost: () => {
        const wasLive = this.#isLive;
        this.#isLive = false;
        if (wasLive) onLost();
      },
      failed: (error) => this.fail(error),
    });
  }

  /** Whether the line is there: false between its loss and its return. */
  get isConnected(): boolean {
    return this.#isLive;
  }

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      while ((!this.#isLive || this.#input.roomBytes <= 0) && !this.#isOver) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#isOver) return;
      const piece = bytes.slice(at, at + Math.min(this.#input.roomBytes, PIECE_BYTES));
      this.#input.sent(piece);
      at += piece.length;
      this.#sockets.send(piece);
    }
  }

  closeInput(): void {
    this.#inputEnds = true;
    this.#send({ type: 'end_input' });
  }

  signal(signal: ExecSignal): void {
    this.#signals.push(signal);
    this.#send({ type: 'signal', signal });
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    this.#send({ type: 'resize', ...size });
  }

  /** Ends it; the loop throws unless `quietly`. */
  fail(error: unknown, how: 'loudly' | 'quietly' = 'loudly'): void {
    if (this.#isOver) return;
    this.#end();
    if (how === 'quietly') this.output.end();
    else this.output.end(error);
    this.#started.reject(error);
    this.#exited.reject(error);
  }

  #onOpened(): void {
    this.#flow.allowed = this.#flow.received;
    const { run } = this.#start;
    if (this.#sockets.isBegun)
      this.#sockets.send(encodeExecFrame({ type: 'resume', run, received: this.#flow.received }));
    else {
      this.#connected();
      this.#send(this.#start);
    }
    this.#allow(1);
  }

  #end(): void {
    this.#isOver = true;
    this.#isLive = false;
    this.#sockets.end();
    this.#wake();
  }

  #onFrame(frame: ExecServerFrame | null): void {
    switch (frame?.type) {
      case 'started':
        return void this.#started.resolve();
      case 'resumed':
        return void this.#onResumed(frame);
      case 'room':
        this.#input.allow(frame.bytes, frame.received);
        return void this.#wake();
      case 'refused':
        if (!this.#isLive) return void this.#sockets.refused();
        return void this.fail(new BerthError(0, frame.code, frame.error, frame));
      case 'exit':
        return void this.#exit(frame.exit_code);
    }
  }

  #onResumed({ received, signals }: Extract<ExecServerFrame, { type: 'resumed' }>): void {
    this.#connected();
    for (const piece of this.#input.sendAgain(received)) this.#sockets.send(piece);
    for (const signal of this.#signals.slice(signals)) this.#send({ type: 'signal', signal });
    if (this.#size !== null) this.#send({ type: 'resize', ...this.#size });
    if (this.#inputEnds) this.#send({ type: 'end_input' });
  }

  #connected(): void {
    this.#isLive = true;
    this.#sockets.connected();
  }

  #exit(exitCode: number | null): void {
    this.#end();
    this.output.end();
    this.#exited.resolve(exitCode);
  }

  #onBytes(data: Uint8Array): void {
    const stream = data[0] === EXEC_STREAMS.stderr ? 'stderr' : 'stdout';
    this.#flow.received += data.length - 1;
    this.output.push({ stream, bytes: data.subarray(1) });
  }

  #took(bytes: number): void {
    this.#flow.taken += bytes;
    if (this.#isLive) this.#allow(PORTION_BYTES);
  }

  /** Grants the room that there is, if it is at least so much. */
  #allow(leastBytes: number): void {
    const { taken, allowed, received } = this.#flow;
    const bytes = taken + WINDOW_BYTES - allowed;
    if (bytes < leastBytes || this.#isOver) return;
    this.#flow.allowed += bytes;
    this.#sockets.send(encodeExecFrame({ type: 'room', bytes, received }));
  }

  #send(frame: ExecClientFrame): void {
    if (this.#isLive) this.#sockets.send(encodeExecFrame(frame));
  }
}
