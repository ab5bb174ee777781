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
import { endedByClient, miscounted } from './exec-failures.ts';
import { ExecInput } from './exec-input.ts';
import { type ExecDial, ExecSockets } from './exec-sockets.ts';

/** A piece of output, as the command wrote it. */
export type CommandOutput = { readonly stream: ExecStream; readonly bytes: Uint8Array };

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** How much output may wait for the caller's `for await` over `output`. */
const WINDOW_BYTES = 1_048_576;
/** Room is granted once it is at least this much. */
const GRANT_BYTES = 262_144;
const PIECE_BYTES = 65_536;

/** `run`: the key by which its client resumes the command. */
export type ResumableStart = ExecStart & { readonly run: string };

/** A command over its sockets: output and input continue at the byte. */
export class ExecLink {
  readonly started: Promise<void>;
  readonly exitCode: Promise<number | null>;
  /** Resolves when the command is over, for any reason. */
  readonly over: Promise<void>;
  readonly output: Queue<CommandOutput>;
  readonly #sockets: ExecSockets;
  readonly #start: ResumableStart;
  readonly #input = new ExecInput();
  readonly #started = deferred<void>();
  readonly #exited = deferred<number | null>();
  /** Whether the command's frames may be sent: its socket is open, and began or resumed it. */
  #isConnected = false;
  #isOver = false;
  /** Bytes of output that have arrived, that the caller has taken, and that the service may send. */
  #flow = { received: 0, taken: 0, allowed: 0 };
  #isInputClosed = false;
  #signals: ExecSignal[] = [];
  #size: TerminalSize | null = null;
  #wake = (): void => {};

  constructor(
    dial: ExecDial,
    start: ResumableStart,
    onLost: (reason: BerthError | null) => unknown = () => {},
  ) {
    this.#start = start;
    this.started = this.#started.promise;
    this.exitCode = this.#exited.promise;
    // A caller that reads `output` learns of a failure there.
    this.started.catch(() => {});
    this.exitCode.catch(() => {});
    this.over = this.exitCode.then(
      () => {},
      () => {},
    );
    this.output = new Queue(
      ({ bytes }) => this.#took(bytes.length),
      () => this.close(endedByClient()),
    );
    this.#sockets = new ExecSockets(dial, {
      opened: () => this.#onOpened(),
      frame: (frame) => this.#onFrame(frame),
      bytes: (data) => this.#onBytes(data),
      lost: (reason) => {
        const wasConnected = this.#isConnected;
        this.#isConnected = false;
        if (wasConnected || !this.#sockets.isBegun) onLost(reason);
      },
      failed: (error) => this.fail(error),
    });
  }

  /** False between the loss of the line and its return. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** One write at a time. Not used before `started`. */
  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      while ((!this.#isConnected || this.#input.roomBytes <= 0) && !this.#isOver) {
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
    this.#isInputClosed = true;
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

  /** Ends it: the caller's `for await` over `output` throws the error. */
  fail(error: unknown): void {
    if (!this.#isOver) this.output.end(error);
    this.close(error);
  }

  /** Ends it without an error of `output`; `started` and `exitCode` reject. */
  close(error: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.output.end();
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
    this.#grantRoom(1);
  }

  #end(): void {
    this.#isOver = true;
    this.#isConnected = false;
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
        return void this.#onRoom(frame.bytes, frame.received);
      case 'refused':
        if (!this.#isConnected) return void this.#sockets.refused(frame);
        return void this.fail(new BerthError(0, frame.code, frame.error, frame));
      case 'exit':
        return void this.#exit(frame.exit_code);
    }
  }

  #onRoom(bytes: number, received: number | null): void {
    if (received !== null && !this.#input.hasSent(received)) return void this.fail(miscounted());
    this.#input.addRoom(bytes, received);
    this.#wake();
  }

  #onResumed({ received, signals }: Extract<ExecServerFrame, { type: 'resumed' }>): void {
    if (!this.#input.hasSent(received) || signals > this.#signals.length) return void this.fail(miscounted());
    this.#connected();
    for (const piece of this.#input.sendAgain(received)) this.#sockets.send(piece);
    for (const signal of this.#signals.slice(signals)) this.#send({ type: 'signal', signal });
    if (this.#size !== null) this.#send({ type: 'resize', ...this.#size });
    if (this.#isInputClosed) this.#send({ type: 'end_input' });
  }

  #connected(): void {
    this.#isConnected = true;
    this.#sockets.connected();
  }

  #exit(exitCode: number | null): void {
    this.#end();
    this.output.end();
    this.#exited.resolve(exitCode);
  }

  /** The first byte names the stream. */
  #onBytes(data: Uint8Array): void {
    const stream = data[0] === EXEC_STREAMS.stderr ? 'stderr' : 'stdout';
    this.#flow.received += data.length - 1;
    this.output.push({ stream, bytes: data.subarray(1) });
  }

  #took(bytes: number): void {
    this.#flow.taken += bytes;
    if (this.#isConnected) this.#grantRoom(GRANT_BYTES);
  }

  /** Grants all room that there is, if it is at least so much. */
  #grantRoom(leastBytes: number): void {
    const { taken, allowed, received } = this.#flow;
    const bytes = taken + WINDOW_BYTES - allowed;
    if (bytes < leastBytes || this.#isOver) return;
    this.#flow.allowed += bytes;
    this.#sockets.send(encodeExecFrame({ type: 'room', bytes, received }));
  }

  #send(frame: ExecClientFrame): void {
    if (this.#isConnected) this.#sockets.send(encodeExecFrame(frame));
  }
}
