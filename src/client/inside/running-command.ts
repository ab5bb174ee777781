import {
  decodeExecServerFrame,
  EXEC_STREAMS,
  type ExecClientFrame,
  type ExecServerFrame,
  type ExecSignal,
  type ExecStream,
  encodeExecFrame,
} from '../../protocol/exec-frames.ts';
import { deferred } from '../deferred.ts';
import { Queue } from '../queue.ts';
import { BerthError } from '../request/errors.ts';
import { Heartbeat } from '../socket/heartbeat.ts';
import type { Socket, SocketListener } from '../socket/socket.ts';

/** A piece of output, as the command wrote it. */
export type CommandOutput = { readonly stream: ExecStream; readonly bytes: Uint8Array };

/** How much output may wait for the loop. */
const WINDOW_BYTES = 1_048_576;
/** New room is granted in portions of this size. */
const PORTION_BYTES = 262_144;
const PIECE_BYTES = 65_536;

/** A long limit: this connection cannot be resumed, so it is not given up early. */
const TIMES = { pingEveryMs: () => 15_000, overdueAfterMs: 15_000, silentAfterMs: 60_000 };

const UNAUTHORIZED = 4001;

/**
 * A command that runs in a container, with its input and output as bytes. Its output is for one `for await`, which ends
 * with the command; a slow loop slows the command. When the connection breaks, the service ends the command, and the
 * loop throws `command_outcome_unknown`.
 */
export class RunningCommand implements AsyncIterable<CommandOutput>, AsyncDisposable {
  /** The exit code; null when the time limit ended the command. Rejects when the loop throws. */
  readonly exitCode: Promise<number | null>;
  /** Whether the socket has been opened. */
  readonly connected: Promise<boolean>;
  readonly started: Promise<void>;
  /** Resolves when the command is over, for any reason. */
  readonly over: Promise<void>;
  readonly #socket: Socket;
  readonly #output: Queue<CommandOutput>;
  readonly #heartbeat: Heartbeat;
  readonly #connected = deferred<boolean>();
  readonly #started = deferred<void>();
  readonly #exited = deferred<number | null>();
  #takenBytes = 0;
  #roomBytes = 0;
  #isOver = false;
  #wake = (): void => {};
  #last: Promise<void> = Promise.resolve();

  /** The command is not started yet: `begin` does that. */
  constructor(open: (listener: SocketListener) => Socket) {
    this.connected = this.#connected.promise;
    this.started = this.#started.promise;
    this.exitCode = this.#exited.promise;
    // A reader of the loop learns of a failure there.
    this.started.catch(() => {});
    this.exitCode.catch(() => {});
    this.over = this.exitCode.then(
      () => {},
      () => {},
    );
    this.#output = new Queue(
      ({ bytes }) => this.#took(bytes.length),
      () => this.close(),
    );
    this.#heartbeat = new Heartbeat(TIMES, {
      ping: (t) => this.#send({ type: 'ping', t }),
      overdue: () => {},
      silent: () => this.fail(broken()),
    });
    this.#socket = open({
      opened: () => this.#connected.resolve(true),
      text: (message) => this.#onFrame(decodeExecServerFrame(message)),
      bytes: (data) => this.#onBytes(data),
      closed: (code, reason, opened) => {
        if (opened) this.fail(code === UNAUTHORIZED ? signedOut() : broken(reason));
        else this.fail(broken());
        this.#connected.resolve(false);
      },
    });
  }

  /** Sends the first frame. */
  begin(start: string): void {
    if (this.#isOver) return;
    this.#socket.send(start);
    this.#send({ type: 'room', bytes: WINDOW_BYTES });
    this.#heartbeat.begin();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<CommandOutput, void, undefined> {
    return this.#output;
  }

  /**
   * Sends text or bytes. Resolves when they are sent, which waits for a slow command; after its end they are dropped.
   */
  write(input: string | Uint8Array): Promise<void> {
    const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : new Uint8Array(input);
    return this.#inTurn(() => this.#write(bytes));
  }

  /** Ends its input, after all that was written. */
  closeInput(): Promise<void> {
    return this.#inTurn(async () => this.#send({ type: 'end_input' }));
  }

  /** Sends a signal to the command and everything that it started. */
  signal(signal: ExecSignal): void {
    this.#send({ type: 'signal', signal });
  }

  /** Changes the size of its terminal. */
  resize({ cols, rows }: { readonly cols: number; readonly rows: number }): void {
    this.#send({ type: 'resize', cols, rows });
  }

  /** Ends the command, and the loop. */
  close(): void {
    this.fail(new BerthError(0, 'command_ended', 'the command was ended by its client'), 'quietly');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Ends it; the loop throws unless `quietly`. */
  fail(error: unknown, how: 'loudly' | 'quietly' = 'loudly'): void {
    if (this.#isOver) return;
    this.#end();
    if (how === 'quietly') this.#output.end();
    else this.#output.end(error);
    this.#started.reject(error);
    this.#exited.reject(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#heartbeat.stop();
    this.#socket.drop(true);
    this.#wake();
  }

  #onFrame(frame: ExecServerFrame | null): void {
    this.#heartbeat.heard();
    switch (frame?.type) {
      case 'started':
        this.#started.resolve();
        break;
      case 'room':
        this.#roomBytes += frame.bytes;
        this.#wake();
        break;
      case 'pong':
        this.#heartbeat.answered(frame.t);
        break;
      case 'refused':
        this.fail(new BerthError(0, frame.code, frame.error, { fields: frame.fields }));
        break;
      case 'exit':
        this.#exit(frame.exit_code);
    }
  }

  #exit(exitCode: number | null): void {
    if (this.#isOver) return;
    this.#end();
    this.#output.end();
    this.#exited.resolve(exitCode);
  }

  #onBytes(data: Uint8Array): void {
    this.#heartbeat.heard();
    const stream = data[0] === EXEC_STREAMS.stderr ? 'stderr' : 'stdout';
    this.#output.push({ stream, bytes: data.subarray(1) });
  }

  #took(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#takenBytes < PORTION_BYTES) return;
    this.#send({ type: 'room', bytes: this.#takenBytes });
    this.#takenBytes = 0;
  }

  async #write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      while (this.#roomBytes === 0 && !this.#isOver) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#isOver) return;
      const piece = bytes.slice(at, at + Math.min(this.#roomBytes, PIECE_BYTES));
      this.#roomBytes -= piece.length;
      at += piece.length;
      this.#socket.send(piece);
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }

  #send(frame: ExecClientFrame): void {
    if (!this.#isOver) this.#socket.send(encodeExecFrame(frame));
  }
}

const broken = (reason = ''): BerthError =>
  new BerthError(
    0,
    'command_outcome_unknown',
    reason === ''
      ? 'the connection broke before the command ended'
      : `the service closed the connection before the command ended: ${reason}`,
  );

const signedOut = (): BerthError => new BerthError(401, 'unauthorized', 'unauthorized');
