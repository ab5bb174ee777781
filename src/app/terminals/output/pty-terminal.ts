import { latestOnly } from '../../../concurrency/coalesce.ts';
import type { TerminalSize } from '../../../domain/terminals/terminal.ts';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import { trackModes } from '../../../domain/terminals/terminal-mode-tracker.ts';
import { type BufferedRange, withoutQuestions } from '../../../domain/terminals/terminal-resume.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import type { HeadlessTerminals } from '../../../ports/terminals/headless-terminal.ts';
import type { PtyStream, Scrollback } from '../../../ports/terminals/terminal-backend.ts';
import { type OutputBuffer, outputBuffer } from './output-buffer.ts';
import type { ReadScheduler } from './read-scheduler.ts';
import { type ReadPace, readThrottle } from './read-throttle.ts';
import { ScreenHistory, type ScreenSnapshot, snapshotOfBuffer } from './screen-snapshot.ts';
import type { Tap, TerminalStream, Viewer } from './terminal-stream.ts';
import { WaitingInput } from './waiting-input.ts';

/** Output kept for resumes, unconfirmed output included; must exceed `PAUSE_BYTES`. */
const KEEP_BYTES = 2_097_152;
/** Unconfirmed output at which the program is paused, and at which it continues. */
const PAUSE_BYTES = 1_048_576;
const RESUME_BYTES = 262_144;

/** Draws snapshots for clients that missed too much; a multiplexer redraws by itself. */
export type Drawing = { readonly screens: HeadlessTerminals; readonly size: TerminalSize };

/** Reads a terminal as fast as its viewer receives, and pauses its program otherwise: nothing is discarded. */
export const ptyTerminal = (
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
  readonly #scheduler: ReadScheduler;
  readonly #resizePty: (size: TerminalSize) => Promise<void>;
  readonly #openedAtMs = performance.now();
  /** Of a multiplexer's discarded output, which a redraw of it does not repeat. */
  readonly #droppedModes = trackModes();
  #size: TerminalSize | undefined;
  #exactFrom = 0;
  #viewer: Viewer | null = null;
  #tap: Tap | null = null;
  #confirmed = 0;
  #received = 0;
  #isAnswered = true;
  readonly #waitingInput = new WaitingInput();
  #over = false;
  /** Its output was too expensive once, or could not be drawn. */
  #isUndrawable = false;
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
    this.#log = outputBuffer(KEEP_BYTES, (dropped, at) => {
      if (this.#history === null) this.#droppedModes.add(dropped);
      else this.#history.forgets(dropped, at);
    });
    const isDrawn = drawing !== null && muxSession === null;
    this.#history = isDrawn ? new ScreenHistory(this.#log, drawing.screens, drawing.size) : null;
    this.#scheduler = scheduler;
    this.#pace = readThrottle(stream, scheduler);
    this.#resizePty = latestOnly(({ cols, rows }: TerminalSize) => pty.resize(cols, rows));
    this.#size = drawing?.size;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    if (stream.closed) setImmediate(() => this.#finish());
    else stream.once('close', () => this.#finish());
  }

  show(viewer: Viewer, offset: number): void {
    this.#viewer = viewer;
    this.#confirmed = Math.min(this.#confirmed, offset);
    this.confirm(offset);
    // What is being read must not be dropped because of new output.
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

  isPaused(): boolean {
    return this.#pace.isPaused();
  }

  async clientSnapshot(): Promise<ScreenSnapshot | null> {
    const clientSnapshot = this.#history === null ? this.#muxSnapshot() : await this.#history.snapshot();
    if (clientSnapshot !== null) this.#exactFrom = Math.max(this.#exactFrom, clientSnapshot.offset);
    return clientSnapshot;
  }

  /** All buffered output of a multiplexer after the modes of older output. Then it redraws what that output lacks. */
  #muxSnapshot(): ScreenSnapshot | null {
    const { start, end } = this.bufferedRange();
    if (this.#droppedModes.isEmpty()) return null;
    const modes = this.#droppedModes.take();
    this.#droppedModes.add(modes);
    void this.redraw();
    return { bytes: Buffer.concat([modes, withoutQuestions(this.range(start, end))]), offset: end };
  }

  async recordingSnapshot(): Promise<ScreenSnapshot | null> {
    if (this.#drawing === null || this.#isUndrawable || this.#log.end() === 0) return null;
    if (this.#history !== null) return await this.#history.snapshot(false);
    const { screens, size } = this.#drawing;
    const clientSnapshot = await snapshotOfBuffer(this.#log, screens, this.#size ?? size);
    this.#isUndrawable = clientSnapshot === null;
    // Dropped output may still be on the screen.
    if (this.#log.start() > 0) void this.redraw();
    return clientSnapshot;
  }

  received(): number {
    return this.#received;
  }

  write(chunk: Buffer, done: () => void): boolean {
    const { stream } = this.#pty;
    this.#received += chunk.length;
    this.#bytes.in += chunk.length;
    this.#scheduler.typed();
    this.#isAnswered = false;
    if (!stream.writable) return true;
    const isTaken = this.#waitingInput.add(chunk.length);
    this.#pty.write(chunk, () => {
      isTaken();
      done();
    });
    return !this.#waitingInput.isFull;
  }

  onDrain(then: () => void): void {
    const { stream } = this.#pty;
    const once = (): void => {
      this.#waitingInput.off('free', once);
      stream.off('close', once);
      then();
    };
    this.#waitingInput.on('free', once);
    stream.on('close', once);
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

  redraw(): Promise<void> {
    return this.#pty.redraw();
  }

  size(): TerminalSize | null {
    return this.#size ?? null;
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
    if (!this.#isAnswered) this.#scheduler.answered();
    this.#isAnswered = true;
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
