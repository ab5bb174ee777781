import {
  decodeProcessServerFrame,
  type ProcessClientFrame,
  type ProcessServerFrame,
} from '../../protocol/process-frames.ts';
import { PROCESS_PROTOCOL, subprotocols } from '../../protocol/subprotocols.ts';
import { nextTryMs, RECONNECT } from '../backoff.ts';
import { deferred } from '../deferred.ts';
import { FlowQueue } from '../flow-queue.ts';
import { randomKey } from '../random-key.ts';
import type { Schemas } from '../request/api.ts';
import type { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { refusalOf } from '../socket/refusal.ts';
import type { OpenSocket } from '../socket/socket.ts';
import { inputBuffer } from '../terminal/input-buffer.ts';
import { LINE_TIMES, Line } from '../terminal/line.ts';
import { failureOf, gapFailure, INPUT_GAP, miscounted, NO_TERMINAL } from './attach-failures.ts';
import { type AttachOptions, attachPath, endOf, type PtySize, pieceOf } from './attach-frames.ts';
import { LEAVE_WITHIN_MS, POLL_MS, whenSent } from './last-input.ts';
import type { OutputEnd, OutputPiece } from './process-output.ts';

/**
 * A connection to a process that survives lost lines: output continues at the byte, and each byte of input is taken
 * once. The output is for one `for await`, which ends with the process; it throws a `BerthError` at a refusal.
 */
export class AttachedProcess implements AsyncIterable<OutputPiece>, AsyncDisposable {
  /** Resolves with how the process ended; null after `detach`. Rejects as the loop throws. */
  readonly closed: Promise<OutputEnd | null>;
  readonly #requester: Requester;
  readonly #open: OpenSocket;
  readonly #path: string;
  readonly #options: AttachOptions;
  readonly #input = inputBuffer();
  readonly #writer = randomKey();
  readonly #output: FlowQueue<OutputPiece>;
  readonly #at: { stdout: number; stderr: number };
  #size: PtySize | undefined;
  readonly #closed = deferred<OutputEnd | null>();
  #line: Line<ProcessServerFrame, ProcessClientFrame> | null = null;
  #isReady = false;
  #isFirst = true;
  #isOver = false;
  /** Whether the loop has too much output waiting. */
  #isPaused = false;
  #isLeaving = false;
  #inputEnds = false;
  #hasSentEnd = false;
  #attempt = 0;
  #comeBackMs: number | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Counts the attempts to connect, so that late answers to an earlier one are recognized. */
  #epoch = 0;

  /** `path`: of the process, in the interface. */
  constructor(requester: Requester, open: OpenSocket, path: string, options: AttachOptions = {}) {
    this.#requester = requester;
    this.#open = open;
    this.#path = path;
    this.#options = options;
    this.#at = { ...(options.after ?? { stdout: 0, stderr: 0 }) };
    this.#size = options.size;
    this.#output = new FlowQueue(({ bytes }) => bytes.length, {
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      left: () => this.detach(),
    });
    this.closed = this.#closed.promise;
    this.closed.catch(() => {});
    options.signal?.addEventListener('abort', () => this.detach(), { once: true });
    if (options.signal?.aborted) this.detach();
    else this.#connect();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<OutputPiece, void, undefined> {
    return this.#output.loop;
  }

  /** Sends text or bytes; they are kept until the process has them. */
  write(input: string | Uint8Array): void {
    if (this.#isOver || this.#isLeaving || this.#inputEnds) return;
    this.#input.push(typeof input === 'string' ? new TextEncoder().encode(input) : input);
    this.#line?.pump();
  }

  /** Ends the input after what was written. */
  closeInput(): void {
    this.#inputEnds = true;
    this.#sendEnd();
  }

  resize(size: PtySize): void {
    this.#size = size;
    if (this.#isReady) this.#line?.send({ type: 'resize', ...size });
  }

  /** Signals it and everything that it started. A lost line may lose it; `Process.signal` reports. */
  signal(signal: Schemas['SignalRequest']['signal']): void {
    if (this.#isReady) this.#line?.send({ type: 'signal', signal });
  }

  /** Leaves it running, once it has what was written, or after two seconds. */
  detach(): void {
    this.#isLeaving = true;
    const isSent = (): boolean =>
      this.#isOver || (this.#input.pendingBytes() === 0 && this.#hasSentEnd === this.#inputEnds);
    whenSent(isSent, () => this.#finish(() => this.#closed.resolve(null)), LEAVE_WITHIN_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.detach();
  }

  #connect(): void {
    const epoch = this.#abandon();
    this.#requester.token().then(
      (token) => epoch === this.#epoch && this.#dial(token ?? ''),
      () => epoch === this.#epoch && this.#retryLater(),
    );
  }

  #dial(token: string): void {
    const url = this.#requester.webSocketOrigin + attachPath(this.#path, this.#at, this.#writer);
    const open = this.#open;
    this.#line = new Line<ProcessServerFrame, ProcessClientFrame>(
      (to) => open(url, subprotocols(PROCESS_PROTOCOL, token), to),
      this.#input,
      {
        decode: decodeProcessServerFrame,
        frame: (frame) => this.#onFrame(frame),
        bytes: (data) => this.#output.push(pieceOf(data, this.#at)),
        closed: (_code, reason, opened) => this.#onClosed(reason, opened),
        overdue: () => {},
        silent: () => this.#retryLater(),
      },
      LINE_TIMES,
    );
  }

  #onFrame(frame: ProcessServerFrame): void {
    switch (frame.type) {
      case 'ready':
        this.#onReady(frame);
        break;
      case 'skipped':
        this.#at[frame.stream] = frame.offset;
        break;
      case 'restarting':
        this.#comeBackMs = frame.retry_ms;
        break;
      case 'refused':
        if (frame.code !== NO_TERMINAL) this.#fail(failureOf(frame));
        break;
      case 'exit':
        this.#finish(() => this.#closed.resolve(endOf(frame)));
        break;
      default:
        break;
    }
  }

  #onReady({ stdout, stderr, input_offset }: Extract<ProcessServerFrame, { type: 'ready' }>): void {
    Object.assign(this.#at, { stdout, stderr });
    this.#attempt = 0;
    this.#isReady = true;
    if (input_offset !== null) {
      if (this.#isFirst) this.#input.restart(input_offset, true);
      else if (this.#input.rewind(input_offset) !== null) return void this.#fail(miscounted());
      this.#line?.send({ type: 'input_from', offset: input_offset });
    }
    this.#isFirst = false;
    if (this.#size !== undefined) this.#line?.send({ type: 'resize', ...this.#size });
    this.#line?.begin();
    this.#sendEnd();
    if (this.#isPaused) this.#pause();
  }

  #onClosed(reason: string, opened: boolean): void {
    if (reason === INPUT_GAP) {
      this.#fail(gapFailure());
      return;
    }
    const epoch = this.#epoch;
    // A service that closed on purpose answers a plain request with the reason.
    refusalOf(this.#requester, attachPath(this.#path, this.#at, this.#writer)).then(
      (refusal) => {
        if (epoch !== this.#epoch) return;
        if (refusal !== null) this.#fail(refusal);
        else this.#retryLater(opened);
      },
      () => epoch === this.#epoch && this.#retryLater(),
    );
  }

  /** Sends the end of the input, once all input has been sent. */
  #sendEnd(): void {
    if (!this.#inputEnds || !this.#isReady) return;
    if (this.#input.pendingBytes() > 0) return void setTimeout(() => this.#sendEnd(), POLL_MS);
    this.#line?.send({ type: 'eof' });
    this.#hasSentEnd = true;
  }

  #pause(): void {
    this.#isPaused = true;
    if (this.#line?.pause() !== true) this.#abandon();
  }

  #resume(): void {
    if (!this.#isPaused || this.#isOver) return;
    this.#isPaused = false;
    if (this.#line !== null) this.#line.resume();
    else this.#connect();
  }

  #retryLater(atOnce = false): void {
    const delayMs = nextTryMs(this.#attempt, this.#comeBackMs ?? (atOnce ? 50 : null), RECONNECT);
    this.#abandon();
    this.#attempt += 1;
    this.#options.onLost?.();
    if (this.#isOver) return;
    this.#retry = setTimeout(() => this.#connect(), delayMs);
  }

  #fail(error: BerthError): void {
    this.#finish(() => {
      this.#output.loop.end(error);
      this.#closed.reject(error);
    });
  }

  #finish(close: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abandon(true);
    close();
    this.#output.loop.end();
  }

  /** Drops the current attempt and returns the number of the next one. */
  #abandon(final = false): number {
    clearTimeout(this.#retry);
    this.#isReady = false;
    this.#hasSentEnd = false;
    this.#line?.drop(final);
    this.#line = null;
    this.#comeBackMs = null;
    this.#epoch += 1;
    return this.#epoch;
  }
}
