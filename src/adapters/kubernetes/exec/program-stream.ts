import { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { JoinedOutput } from '../../../domain/joined-output.ts';
import type { ProgramOutput, ProgramRequest } from '../../../ports/containers/inside/container-programs.ts';
import { CHANNEL, messageOf } from './exec-messages.ts';
import { type ExecEnd, execEnd } from './exec-status.ts';
import { type InputEnd, inputFrame, type Start } from './start-program.ts';
import { type FirstProcess, StartReport } from './start-report.ts';

/** Load balancers often end connections that are silent for a minute. */
const PING_MS = 25_000;
/** A message of input; also what one frame of the input has at most. */
const MAX_MESSAGE_BYTES = 65_536;
/** For what is still on its way when a program has ended, and for the server to close the connection. */
const LINGER_MS = 10_000;
/** At this many unread bytes the connection is paused. */
const MAX_WAITING_BYTES = 131_072;

type Form = ProgramRequest['form'];

export type StreamOptions = {
  readonly socket: WebSocket;
  readonly form: Form;
  readonly inputEnd: InputEnd;
  readonly start: Pick<Start, 'reportBegin' | 'inputLeft'>;
};

/**
 * A program's streams over the WebSocket of an exec. Of the form `apart` it gives `ProgramOutput`, else bytes. Not
 * reading it pauses the socket. It ends when the server has said how the program ended, and else breaks.
 */
export class ProgramStream extends Duplex {
  /** Resolves when the program runs; null when the connection ended before. */
  readonly started: Promise<FirstProcess | null>;
  /** What the server said about its end. */
  ended: ExecEnd | null = null;
  readonly #socket: WebSocket;
  readonly #form: Form;
  readonly #inputEnd: InputEnd;
  readonly #start: StreamOptions['start'];
  readonly #reported = Promise.withResolvers<FirstProcess | null>();
  readonly #ping: NodeJS.Timeout;
  /** null once it was found. */
  #report: StartReport | null;
  /** The end of stderr that may be the beginning of the word about input. */
  #pending: Buffer = Buffer.alloc(0);
  /** An exec sends a message for every few KiB that a program writes; one larger piece costs the reader much less. */
  readonly #waiting = new JoinedOutput<ProgramOutput['stream']>();
  #isRead = false;
  #delivery: NodeJS.Immediate | null = null;
  #takesInput = true;
  #hasAnswered = true;
  /** Input that the server may not have passed on. */
  #inputUnderWay = false;
  #linger: NodeJS.Timeout | undefined;

  constructor({ socket, form, inputEnd, start }: StreamOptions) {
    super({
      // The program's end closes both directions once its output is read.
      allowHalfOpen: false,
      readableObjectMode: form === 'apart',
      // Pieces would wait one by one in the stream itself.
      readableHighWaterMark: 1,
    });
    this.#socket = socket;
    this.#form = form;
    this.#inputEnd = inputEnd;
    this.#start = start;
    this.#report = new StartReport(start.reportBegin);
    this.started = this.#reported.promise;
    this.#ping = setInterval(() => this.#checkPeer(), PING_MS).unref();
    socket.on('message', (data) => this.#take(data));
    socket.on('pong', () => {
      this.#hasAnswered = true;
      this.#inputUnderWay = false;
    });
    // An error is followed by `close`.
    socket.on('error', () => {});
    socket.once('close', () => this.#closed());
    this.on('error', () => {});
    // The report of its start is awaited before anybody reads.
    socket.resume();
  }

  /** Sends input as it is, outside the program's own. */
  sendFirst(data: Buffer): void {
    for (let at = 0; at < data.length; at += MAX_MESSAGE_BYTES)
      this.#send(data.subarray(at, at + MAX_MESSAGE_BYTES));
  }

  /** Resolves when it is on its way or cannot be, so that the caller can wait with the next one. */
  resize(cols: number, rows: number): Promise<void> {
    const size = Buffer.from(JSON.stringify({ Width: cols, Height: rows }));
    return new Promise((resolve) => this.#socket.send(messageOf(CHANNEL.resize, size), () => resolve()));
  }

  override _read(): void {
    this.#isRead = true;
    this.#deliverSoon();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#input(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#input(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#form !== 'terminal') this.#endInput();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#ping);
    clearTimeout(this.#linger);
    if (this.#delivery !== null) clearImmediate(this.#delivery);
    this.#reported.resolve(null);
    this.#socket.terminate();
    done(error);
  }

  #endInput(): void {
    if (!this.#takesInput || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#takesInput = false;
    if (this.#inputEnd === 'native') this.#socket.send(Buffer.from([CHANNEL.close, CHANNEL.stdin]));
    else this.#send(inputFrame(Buffer.alloc(0)));
  }

  #input(data: Buffer, done: () => void): void {
    if (!this.#takesInput) {
      done();
      return;
    }
    const last = Math.max(0, Math.ceil(data.length / MAX_MESSAGE_BYTES) - 1);
    for (let at = 0; at <= last; at += 1) {
      const part = data.subarray(at * MAX_MESSAGE_BYTES, (at + 1) * MAX_MESSAGE_BYTES);
      const isFramed = this.#form !== 'terminal' && this.#inputEnd === 'framed';
      this.#send(isFramed ? inputFrame(part) : part, at === last ? done : undefined);
    }
  }

  /** Unsent input is never done. A program may end without it: whether that is a fault, the connection's end decides. */
  #send(input: Buffer, done?: () => void): void {
    this.#inputUnderWay = true;
    this.#socket.send(messageOf(CHANNEL.stdin, input), (error) => void (error ?? done?.()));
  }

  #take(data: RawData): void {
    this.#hasAnswered = true;
    this.#linger?.refresh();
    const message = data as Buffer;
    const [channel] = message;
    if (message.length < 2) return;
    const bytes = message.subarray(1);
    if (channel === CHANNEL.status) this.#said(execEnd(bytes.toString()));
    else if (channel === CHANNEL.stdout) this.#printed('stdout', bytes);
    else if (channel === CHANNEL.stderr) this.#printed('stderr', bytes);
  }

  /** The server may wait for us to read on, or for the program, which has ended, to take its input. */
  #said(end: ExecEnd | null): void {
    if (end === null) return;
    this.ended = end;
    this.#linger ??= setTimeout(() => this.#hangUp(), LINGER_MS).unref();
  }

  #hangUp(): void {
    if (this.#socket.isPaused) this.#linger?.refresh();
    else this.#socket.terminate();
  }

  #printed(stream: ProgramOutput['stream'], bytes: Buffer): void {
    const isReport = this.#report !== null && stream === (this.#form === 'terminal' ? 'stdout' : 'stderr');
    const after = isReport ? this.#afterReport(bytes) : bytes;
    const data = stream === 'stderr' && this.#form !== 'terminal' ? this.#withoutEnd(after) : after;
    if (data.length === 0) return;
    this.#waiting.add(this.#form === 'apart' ? stream : 'stdout', data);
    if (this.#waiting.bytes >= MAX_WAITING_BYTES) this.#socket.pause();
    this.#deliverSoon();
  }

  /** With what else arrives in this turn of the event loop. */
  #deliverSoon(): void {
    if (!this.#isRead || this.#waiting.bytes === 0) return;
    this.#delivery ??= setImmediate(() => {
      this.#delivery = null;
      this.#isRead = false;
      this.#deliver();
      if (this.#socket.isPaused && this.#waiting.bytes < MAX_WAITING_BYTES) this.#socket.resume();
    });
  }

  #deliver(): void {
    const piece = this.#waiting.take();
    if (piece !== null) this.push(this.#form === 'apart' ? piece : piece.data);
  }

  /** What follows the report; the terminal's echo of the start comes before it. */
  #afterReport(bytes: Buffer): Buffer {
    const found = this.#report?.find(bytes) ?? null;
    if (found === null) {
      if (this.#report?.isMissing) this.destroy(new Error('a program did not report its start'));
      return Buffer.alloc(0);
    }
    this.#report = null;
    this.#inputUnderWay = false;
    this.#reported.resolve(found.process);
    return found.rest;
  }

  /** Without the word about input, which ends it. */
  #withoutEnd(bytes: Buffer): Buffer {
    const word = this.#start.inputLeft;
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const at = all.indexOf(word);
    if (at >= 0) this.#endInput();
    const rest = at < 0 ? all : Buffer.concat([all.subarray(0, at), all.subarray(at + word.length)]);
    const begins = rest.lastIndexOf(word.subarray(0, 1));
    const mayBegin = begins >= 0 && word.subarray(0, rest.length - begins).equals(rest.subarray(begins));
    this.#pending = mayBegin ? rest.subarray(begins) : Buffer.alloc(0);
    return mayBegin ? rest.subarray(0, begins) : rest;
  }

  #closed(): void {
    this.#reported.resolve(null);
    const stream = this.#form === 'apart' ? 'stderr' : 'stdout';
    if (this.#pending.length > 0) this.#waiting.add(stream, this.#pending);
    while (this.#waiting.bytes > 0) this.#deliver();
    if (this.ended === null) return void this.destroy(new Error('the connection to a program broke'));
    // Unsent input, never done, would keep the stream open.
    this.once('end', () => this.destroy());
    this.push(null);
  }

  /**
   * A peer that answers nothing for a whole interval is gone. A paused socket reads no answers, and a server answers no
   * ping before a slow program has taken the input that came earlier: then TCP alone notices a lost peer.
   */
  #checkPeer(): void {
    if (this.#socket.isPaused || this.#inputUnderWay) this.#hasAnswered = true;
    if (!this.#hasAnswered) return void this.destroy(new Error('the cluster does not answer'));
    this.#hasAnswered = false;
    this.#socket.ping();
  }
}
