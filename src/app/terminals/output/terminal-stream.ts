import { latestOnly } from '../../../concurrency/coalesce.ts';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import type { BufferedRange } from '../../../domain/terminals/terminal-resume.ts';
import type { OutputRoom } from '../../../ports/containers/container-runtime.ts';
import type { HeadlessTerminals, ScreenSize } from '../../../ports/terminals/headless-terminal.ts';
import type { PtyStream, Scrollback } from '../../../ports/terminals/terminal-backend.ts';
import { type OutputBuffer, outputBuffer } from './output-buffer.ts';
import type { ReadScheduler } from './read-scheduler.ts';
import { type ReadPace, readThrottle } from './read-throttle.ts';
import { ScreenHistory, type ScreenSnapshot, snapshotOfBuffer } from './screen-snapshot.ts';

/** Output kept for a client that comes back. What nobody has confirmed is always part of it. */
const KEEP_BYTES = 2_097_152;
/** Unconfirmed output at which the program is paused, and at which it goes on. */
const PAUSE_BYTES = 1_048_576;
const RESUME_BYTES = 262_144;
/**
 * Input that waits for the program, at which its sender has to wait as well: more than a client may have under way, so
 * that its pongs, which let the output go on, are not held up behind its input.
 */
const MAX_INPUT_BYTES = 2_097_152;

export type Viewer = {
  /** There is more output, or the end. */
  more(): void;
};

/** Follows the output from now on, whoever views it, and never holds it up. */
export type Tap = {
  output(chunk: Buffer): void;
  resized(cols: number, rows: number): void;
};

/** A program's terminal as two byte streams with offsets, whoever shows it. */
export type TerminalStream = {
  readonly id: string;
  readonly muxSession: string | null;
  /** A plain shell, as the multiplexer could not start. */
  readonly isFallback: boolean;
  /** Begins to tell `viewer`, who has all output before `offset`, and nobody else. */
  show(viewer: Viewer, offset: number): void;
  /** One tap at a time; null for none. */
  tap(tap: Tap | null): void;
  bufferedRange(): BufferedRange;
  read(offset: number, maxBytes: number): Buffer;
  /** The buffered output from one offset up to another. */
  range(from: number, to: number): Buffer;
  /** The viewer has received all output before `offset`. */
  confirm(offset: number): void;
  unconfirmedBytes(): number;
  /** All output so far as a picture; null when none can be made. What a client has of it can not be resumed. */
  clientSnapshot(): Promise<ScreenSnapshot | null>;
  /** The screen as it is now, for whoever only looks on; null when it can not be drawn, and before the first output. */
  recordingSnapshot(): Promise<ScreenSnapshot | null>;
  /** Count of input bytes taken. */
  received(): number;
  /** Takes input; `done` when the engine has it. False when no more should come before `onDrain` tells. */
  write(chunk: Buffer, done: () => void): boolean;
  /** Once, when more input can be taken or the terminal has ended. */
  onDrain(then: () => void): void;
  /** All output has been read, and there will be no more. */
  over(): boolean;
  /** Milliseconds from its opening to its end; 0 while it goes on. */
  ranMs(): number;
  /** Waits for its end, and tells what it was. */
  ending(): Promise<StreamEnd>;
  /** What there is to scroll back to, as it is after the call. */
  requestScrollback(room?: OutputRoom): Promise<Scrollback>;
  /** Lets a multiplexer draw all of its screen once more; that is output like any other. */
  drawAnew(): Promise<void>;
  resize(cols: number, rows: number): Promise<void>;
  /** Ends what runs in the container for it, or leaves that to a container that goes down. */
  end(withContainer?: boolean): Promise<void>;
};

/** What draws a terminal for a client that missed too much; a multiplexer does that by itself. */
export type Drawing = { readonly screens: HeadlessTerminals; readonly size: ScreenSize };

/** Reads a terminal as fast as it is received, and lets its program wait when it is not: nothing is thrown away. */
export const terminalStream = (
  id: string,
  pty: PtyStream,
  onOver: () => void,
  scheduler: ReadScheduler,
  drawing: Drawing | null = null,
): TerminalStream => new PtyTerminal(id, pty, onOver, scheduler, drawing);

class PtyTerminal implements TerminalStream {
  readonly id: string;
  readonly muxSession: string | null;
  readonly isFallback: boolean;
  readonly #pty: PtyStream;
  readonly #bytes: NonNullable<PtyStream['bytes']>;
  readonly #onOver: () => void;
  readonly #drawing: Drawing | null;
  readonly #log: OutputBuffer;
  readonly #history: ScreenHistory | null;
  readonly #pace: ReadPace;
  readonly #resizePty: (size: ScreenSize) => Promise<void>;
  readonly #openedAtMs = performance.now();
  #size: ScreenSize | undefined;
  #exactFrom = 0;
  #viewer: Viewer | null = null;
  #tap: Tap | null = null;
  #confirmed = 0;
  #received = 0;
  #over = false;
  #ranMs = 0;

  constructor(
    id: string,
    pty: PtyStream,
    onOver: () => void,
    scheduler: ReadScheduler,
    drawing: Drawing | null,
  ) {
    const { stream, muxSession } = pty;
    this.id = id;
    this.muxSession = muxSession;
    this.isFallback = pty.isFallback === true;
    this.#pty = pty;
    this.#bytes = pty.bytes ?? { in: 0, out: 0 };
    this.#onOver = onOver;
    this.#drawing = drawing;
    this.#log = outputBuffer(KEEP_BYTES, (forgotten, at) => this.#history?.forgets(forgotten, at));
    const isDrawn = drawing !== null && muxSession === null;
    this.#history = isDrawn ? new ScreenHistory(this.#log, drawing.screens, drawing.size) : null;
    this.#pace = readThrottle(stream, scheduler);
    this.#resizePty = latestOnly(({ cols, rows }: ScreenSize) => pty.resize(cols, rows));
    this.#size = drawing?.size;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    if (stream.closed) setImmediate(() => this.#finish());
    else stream.once('close', () => this.#finish());
  }

  show(viewer: Viewer, offset: number): void {
    this.#viewer = viewer;
    this.#confirmed = Math.min(this.#confirmed, offset);
    this.confirm(offset);
    // What is read anew must not be pushed out by what comes meanwhile.
    this.#pauseWhenFull();
  }

  tap(tap: Tap | null): void {
    this.#tap = tap;
  }

  bufferedRange(): BufferedRange {
    return { start: this.#log.start(), end: this.#log.end(), exactFrom: this.#exactFrom };
  }

  read(offset: number, maxBytes: number): Buffer {
    return this.#log.read(offset, maxBytes);
  }

  range(from: number, to: number): Buffer {
    return this.#log.range(from, to);
  }

  confirm(offset: number): void {
    this.#confirmed = Math.max(this.#confirmed, Math.min(offset, this.#log.end()));
    if (this.#pace.isPaused() && this.unconfirmedBytes() <= RESUME_BYTES) this.#pace.resume();
  }

  unconfirmedBytes(): number {
    return this.#log.end() - this.#confirmed;
  }

  async clientSnapshot(): Promise<ScreenSnapshot | null> {
    const clientSnapshot = (await this.#history?.snapshot()) ?? null;
    if (clientSnapshot !== null) this.#exactFrom = Math.max(this.#exactFrom, clientSnapshot.offset);
    return clientSnapshot;
  }

  async recordingSnapshot(): Promise<ScreenSnapshot | null> {
    if (this.#drawing === null || this.#log.end() === 0) return null;
    if (this.#history !== null) return await this.#history.snapshot(false);
    const { screens, size } = this.#drawing;
    const clientSnapshot = await snapshotOfBuffer(this.#log, screens, this.#size ?? size);
    // What was forgotten may still be on the screen.
    if (this.#log.start() > 0) void this.drawAnew();
    return clientSnapshot;
  }

  received(): number {
    return this.#received;
  }

  write(chunk: Buffer, done: () => void): boolean {
    const { stream } = this.#pty;
    this.#received += chunk.length;
    this.#bytes.in += chunk.length;
    if (!stream.writable) return true;
    this.#pty.write(chunk, done);
    return stream.writableLength < MAX_INPUT_BYTES;
  }

  onDrain(then: () => void): void {
    const { stream } = this.#pty;
    const once = (): void => {
      stream.off('drain', once).off('close', once);
      then();
    };
    stream.on('drain', once).on('close', once);
  }

  over(): boolean {
    return this.#over;
  }

  ranMs(): number {
    return this.#ranMs;
  }

  ending(): Promise<StreamEnd> {
    return this.#pty.ending();
  }

  requestScrollback(room?: OutputRoom): Promise<Scrollback> {
    return this.#pty.requestScrollback(room);
  }

  drawAnew(): Promise<void> {
    return this.#pty.drawAnew();
  }

  resize(cols: number, rows: number): Promise<void> {
    this.#size = { cols, rows };
    this.#tap?.resized(cols, rows);
    this.#history?.resized({ cols, rows });
    return this.#resizePty({ cols, rows });
  }

  async end(withContainer = false): Promise<void> {
    this.#viewer = null;
    this.#history?.end();
    if (withContainer) this.#pty.stream.destroy();
    else await this.#pty.close();
  }

  #take(chunk: Buffer): void {
    this.#log.append(chunk);
    this.#tap?.output(chunk);
    this.#bytes.out += chunk.length;
    this.#pace.took(chunk.length);
    this.#pauseWhenFull();
    this.#viewer?.more();
    this.#history?.grown();
  }

  #pauseWhenFull(): void {
    if (this.unconfirmedBytes() >= PAUSE_BYTES) this.#pace.pause();
  }

  #finish(): void {
    this.#over = true;
    this.#ranMs = performance.now() - this.#openedAtMs;
    this.#viewer?.more();
    this.#onOver();
  }
}
