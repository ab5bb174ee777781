import {
  decodeExecServerFrame,
  EXEC_STREAMS,
  type ExecClientFrame,
  type ExecServerFrame,
  type ExecSignal,
  type ExecStart,
  type ExecStream,
  encodeExecFrame,
} from '../../protocol/exec-frames.ts';
import { nextTryMs } from '../backoff.ts';
import { deferred } from '../deferred.ts';
import { Queue } from '../queue.ts';
import { BerthError } from '../request/errors.ts';
import { Heartbeat } from '../socket/heartbeat.ts';
import type { Socket, SocketListener } from '../socket/socket.ts';
import { broken, endedByClient, isFinal, isSignedOut, notOpened, signedOut } from './exec-failures.ts';
import { ExecInput } from './exec-input.ts';

/** A piece of output, as the command wrote it. */
export type CommandOutput = { readonly stream: ExecStream; readonly bytes: Uint8Array };

/** How the sockets of a command are opened. */
export type ExecDial = {
  /** Opens one with a valid token. */
  open(listener: SocketListener): Promise<Socket>;
  /** Why the service would refuse one; null when it would not. */
  refusal(): Promise<BerthError | null>;
};

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** How much output may wait for the loop. */
const WINDOW_BYTES = 1_048_576;
/** New room is granted in portions of this size. */
const PORTION_BYTES = 262_144;
const PIECE_BYTES = 65_536;

const TIMES = { pingEveryMs: () => 10_000, overdueAfterMs: 10_000, silentAfterMs: 30_000 };
const HANDSHAKE_MS = 15_000;
const RETRY = { firstMs: 250, maxMs: 4_000 };
/** The service keeps a command without a socket for as long. */
const RESUME_WITHIN_MS = 60_000;

const UNAUTHORIZED = 4001;
/** A lost line, and a proxy that goes away. */
const LOST_CODES: readonly number[] = [1001, 1006];

/** The sockets of a command, one after the other: output and input continue at the byte. */
export class ExecLink {
  readonly started: Promise<void>;
  readonly exitCode: Promise<number | null>;
  /** Resolves when the command is over, for any reason. */
  readonly over: Promise<void>;
  readonly output: Queue<CommandOutput>;
  readonly #dial: ExecDial;
  readonly #start: ExecStart & { readonly run: string };
  readonly #input = new ExecInput();
  readonly #started = deferred<void>();
  readonly #exited = deferred<number | null>();
  #heartbeat: Heartbeat | null = null;
  #socket: Socket | null = null;
  /** Whether the command may run: `start` was sent. */
  #isBegun = false;
  /** Whether frames about the command may be sent on the socket. */
  #isLive = false;
  #isOver = false;
  /** Bytes of output that have come, that the loop has taken, and that the service may send. */
  #flow = { received: 0, taken: 0, allowed: 0 };
  #inputEnds = false;
  #signals: ExecSignal[] = [];
  #size: TerminalSize | null = null;
  #attempt = 0;
  #lostAtMs: number | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #wake = (): void => {};

  constructor(dial: ExecDial, start: ExecStart & { readonly run: string }) {
    this.#dial = dial;
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
    this.#connect();
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
      this.#socket?.send(piece);
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

  #connect(): void {
    const heartbeat = this.#aHeartbeat();
    const isCurrent = (): boolean => heartbeat === this.#heartbeat && !this.#isOver;
    this.#heartbeat = heartbeat;
    this.#retry = setTimeout(() => this.#again(), HANDSHAKE_MS);
    const listener: SocketListener = {
      opened: () => isCurrent() && this.#onOpened(),
      text: (message) => isCurrent() && this.#onFrame(decodeExecServerFrame(message)),
      bytes: (data) => isCurrent() && this.#onBytes(data),
      closed: (code, reason, opened) => isCurrent() && this.#onClosed(code, reason, opened),
    };
    this.#dial.open(listener).then(
      (socket) => {
        if (isCurrent()) this.#socket = socket;
        else socket.drop(true);
      },
      (error) => isCurrent() && (this.#isBegun ? this.#again() : this.fail(error)),
    );
  }

  #aHeartbeat(): Heartbeat {
    return new Heartbeat(TIMES, {
      ping: (t) => this.#socket?.send(encodeExecFrame({ type: 'ping', t })),
      overdue: () => {},
      silent: () => this.#again(),
    });
  }

  #onOpened(): void {
    clearTimeout(this.#retry);
    this.#heartbeat?.begin();
    this.#flow.allowed = this.#flow.received;
    if (this.#isBegun) {
      const { run } = this.#start;
      this.#socket?.send(encodeExecFrame({ type: 'resume', run, received: this.#flow.received }));
    } else {
      this.#isBegun = true;
      this.#connected();
      this.#socket?.send(encodeExecFrame(this.#start));
    }
    this.#allow(1);
  }

  #onClosed(code: number, reason: string, opened: boolean): void {
    if (opened && code === UNAUTHORIZED) this.fail(signedOut());
    else if (!opened) void this.#notOpened();
    else if (LOST_CODES.includes(code)) this.#again();
    else this.fail(broken(reason));
  }

  /** The answer to a plain request says why, and lets an expired token be renewed. */
  async #notOpened(): Promise<void> {
    this.#drop();
    const refusal = await this.#dial.refusal().catch((error: unknown) => error);
    if (this.#isOver) return;
    if (!this.#isBegun && refusal !== null) this.fail(refusal);
    else if (this.#isBegun && isFinal(refusal)) this.fail(isSignedOut(refusal) ? refusal : broken());
    else if (!this.#isBegun && this.#attempt > 0) this.fail(notOpened());
    else this.#again();
  }

  #again(): void {
    this.#drop();
    const nowMs = performance.now();
    this.#lostAtMs ??= nowMs;
    if (nowMs - this.#lostAtMs > RESUME_WITHIN_MS)
      return void this.fail(this.#isBegun ? broken() : notOpened());
    const delayMs = this.#attempt === 0 ? 0 : nextTryMs(this.#attempt, null, RETRY);
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.#connect(), delayMs);
  }

  #end(): void {
    this.#isOver = true;
    this.#drop(true);
    this.#wake();
  }

  /** `final`: the command is no longer needed. */
  #drop(final = false): void {
    clearTimeout(this.#retry);
    this.#heartbeat?.stop();
    this.#heartbeat = null;
    this.#isLive = false;
    this.#socket?.drop(final);
    this.#socket = null;
  }

  #onFrame(frame: ExecServerFrame | null): void {
    this.#heartbeat?.heard();
    switch (frame?.type) {
      case 'started':
        return void this.#started.resolve();
      case 'resumed':
        return void this.#onResumed(frame);
      case 'room':
        this.#input.allow(frame.bytes, frame.received);
        return void this.#wake();
      case 'pong':
        return void this.#heartbeat?.answered(frame.t);
      case 'refused':
        // A service without the command cannot say what became of it.
        return void this.fail(this.#isLive ? new BerthError(0, frame.code, frame.error, frame) : broken());
      case 'exit':
        return void this.#exit(frame.exit_code);
    }
  }

  #onResumed({ received, signals }: Extract<ExecServerFrame, { type: 'resumed' }>): void {
    this.#connected();
    for (const piece of this.#input.sendAgain(received)) this.#socket?.send(piece);
    for (const signal of this.#signals.slice(signals)) this.#send({ type: 'signal', signal });
    if (this.#size !== null) this.#send({ type: 'resize', ...this.#size });
    if (this.#inputEnds) this.#send({ type: 'end_input' });
  }

  #connected(): void {
    this.#isLive = true;
    this.#attempt = 0;
    this.#lostAtMs = null;
  }

  #exit(exitCode: number | null): void {
    this.#end();
    this.output.end();
    this.#exited.resolve(exitCode);
  }

  #onBytes(data: Uint8Array): void {
    this.#heartbeat?.heard();
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
    this.#socket?.send(encodeExecFrame({ type: 'room', bytes, received }));
  }

  #send(frame: ExecClientFrame): void {
    if (this.#isLive) this.#socket?.send(encodeExecFrame(frame));
  }
}
