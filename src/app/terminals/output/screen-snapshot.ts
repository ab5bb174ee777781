import { setTimeout as delay } from 'node:timers/promises';
import type { TerminalSize } from '../../../domain/terminals/terminal.ts';
import { trackModes } from '../../../domain/terminals/terminal-mode-tracker.ts';
import { MAX_TAIL_BYTES, partialSequence } from '../../../domain/terminals/terminal-partial-sequence.ts';
import type { HeadlessTerminal, HeadlessTerminals } from '../../../ports/terminals/headless-terminal.ts';
import type { OutputBuffer } from './output-buffer.ts';

/** Drawn at once; usually a millisecond. */
const SLICE_BYTES = 8_192;
/** Between two slices without a waiting client. */
const REST_MS = 3;
const MAX_SIZES = 64;
/** A screen with more output is kept after a snapshot: drawing it for each reload would cost too much. */
const DRAWN_AGAIN_BYTES = 524_288;

export type Pace = {
  /** Undrawn output at which drawing begins, well before the buffer drops it, and at which it stops. */
  readonly behindBytes: number;
  readonly closeBytes: number;
  /**
   * Faster output is not drawn until it slows down: heavy terminals that take turns write about this much, and drawing
   * all of them would cost too much. If that continues beyond the buffer, a snapshot lacks what was drawn before.
   */
  readonly calmMs: number;
  readonly calmBytes: number;
};

const PACE: Pace = { behindBytes: 1_310_720, closeBytes: 1_048_576, calmMs: 1_000, calmBytes: 65_536 };

export type ScreenSnapshot = {
  readonly bytes: Buffer;
  /** The end of the output that it shows. */
  readonly offset: number;
};

/** A snapshot of a screen drawn up to `offset`, and the partial character or sequence that it cannot show. */
function takeSnapshot(
  screen: HeadlessTerminal,
  buffer: OutputBuffer,
  offset: number,
  withScrollback: boolean,
): ScreenSnapshot {
  const tail = buffer.range(Math.max(buffer.start(), offset - MAX_TAIL_BYTES), offset);
  return { bytes: Buffer.concat([screen.serialize(withScrollback), partialSequence(tail)]), offset };
}

/**
 * The screen after a log's output, without scrollback; null when it cannot be drawn. Dropped output is missing; a
 * multiplexer can redraw it on request.
 */
export async function snapshotOfBuffer(
  buffer: OutputBuffer,
  screens: HeadlessTerminals,
  size: TerminalSize,
): Promise<ScreenSnapshot | null> {
  let screen: HeadlessTerminal | null = null;
  try {
    screen = screens.open(size);
    let at = buffer.start();
    for (const upTo = buffer.end(); at < upTo; at = Math.max(at, buffer.start())) {
      const piece = buffer.read(at, SLICE_BYTES);
      at += piece.length;
      if (!(await screen.write(piece))) return null;
      await delay(REST_MS);
    }
    return takeSnapshot(screen, buffer, at, false);
  } catch {
    return null;
  } finally {
    screen?.end();
  }
}

/** A screen's sizes, with the offsets in its output from which they apply. */
class SizeHistory {
  readonly #sizes: { readonly at: number; readonly size: TerminalSize }[] = [];
  #applied = 0;

  constructor(opened: TerminalSize) {
    this.#sizes.push({ at: 0, size: opened });
  }

  add(at: number, size: TerminalSize): void {
    const sizes = this.#sizes;
    // Without output between two sizes the later one counts; of very many the oldest are dropped.
    if (sizes.length > this.#applied && (sizes.at(-1)?.at === at || sizes.length > MAX_SIZES)) sizes.pop();
    sizes.push({ at, size });
  }

  applyUpTo(offset: number, screen: HeadlessTerminal): void {
    let next = this.#sizes[this.#applied];
    while (next !== undefined && next.at <= offset) {
      screen.resize(next.size);
      this.#applied += 1;
      next = this.#sizes[this.#applied];
    }
  }

  /** The offset of the next size. */
  nextAt(): number {
    return this.#sizes[this.#applied]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** For a new screen. */
  rewind(): void {
    this.#applied = 0;
  }
}

/**
 * A terminal's screen after all its output, of which the log has the newest part. Nothing is drawn until the log is
 * about to drop output or a snapshot is requested, so terminals with little output cost nothing.
 */
export class ScreenHistory {
  readonly #log: OutputBuffer;
  readonly #screens: HeadlessTerminals;
  readonly #opened: TerminalSize;
  readonly #pace: Pace;
  readonly #sizes: SizeHistory;
  readonly #gap = trackModes();
  #screen: HeadlessTerminal | null = null;
  /** All earlier output is on the screen, or being drawn. */
  #drawn = 0;
  #wanted = 0;
  #asking = 0;
  #drawing: Promise<void> | null = null;
  #calm: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(buffer: OutputBuffer, screens: HeadlessTerminals, opened: TerminalSize, pace = PACE) {
    this.#log = buffer;
    this.#screens = screens;
    this.#opened = opened;
    this.#pace = pace;
    this.#sizes = new SizeHistory(opened);
  }

  grown(): void {
    const isIdle = this.#calm === undefined && this.#drawing === null && !this.#ended;
    if (isIdle && this.#isBehind()) this.#drawWhenCalm();
  }

  /** The log is dropping these bytes, which begin at this offset. */
  forgets(bytes: Buffer, at: number): void {
    if (this.#ended || at + bytes.length <= this.#drawn) return;
    this.#gap.add(bytes.subarray(Math.max(0, this.#drawn - at)));
    this.#drawn = at + bytes.length;
  }

  resized(next: TerminalSize): void {
    this.#sizes.add(this.#log.end(), next);
  }

  /** A snapshot of all output so far; null when the terminal has ended or cannot be drawn. */
  async snapshot(withScrollback = true): Promise<ScreenSnapshot | null> {
    this.#asking += 1;
    try {
      const upTo = this.#log.end();
      // Also while the rest is being drawn for another request.
      while (!this.#ended && (this.#drawing !== null || this.#lacks(upTo))) await this.#drawUpTo(upTo);
      return this.#ended ? null : takeSnapshot(this.#theScreen(), this.#log, this.#drawn, withScrollback);
    } catch {
      this.end();
      return null;
    } finally {
      this.#asking -= 1;
      // As long as the log has everything, it can be drawn again.
      const isCheap = this.#log.start() === 0 && this.#drawn <= DRAWN_AGAIN_BYTES;
      if (isCheap && this.#asking === 0) this.#forgetScreen();
    }
  }

  /** Also for output that is too expensive or cannot be drawn. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#calm);
    this.#screen?.end();
    this.#screen = null;
  }

  #isBehind(): boolean {
    return this.#log.end() - this.#drawn >= this.#pace.behindBytes;
  }

  #lacks(upTo: number): boolean {
    return this.#drawn < upTo || !this.#gap.isEmpty();
  }

  /** Draws what the log may soon drop, once the output slows down. */
  #drawWhenCalm(): void {
    const { calmBytes, calmMs, closeBytes } = this.#pace;
    const before = this.#log.end();
    this.#calm = setTimeout(() => {
      this.#calm = undefined;
      if (this.#log.end() - before > calmBytes) return this.#drawWhenCalm();
      void this.#drawUpTo(this.#log.end() - closeBytes).then(() => this.grown());
    }, calmMs);
  }

  #drawUpTo(offset: number): Promise<void> {
    this.#wanted = Math.max(this.#wanted, offset);
    this.#drawing ??= this.#draw()
      .catch(() => this.end())
      .finally(() => {
        this.#drawing = null;
      });
    return this.#drawing;
  }

  async #draw(): Promise<void> {
    while (!this.#ended && this.#lacks(this.#wanted)) {
      const on = this.#theScreen();
      const forgotten = this.#gap.isEmpty() ? Buffer.alloc(0) : this.#gap.take();
      const piece = this.#log.read(this.#drawn, Math.min(SLICE_BYTES, this.#sizes.nextAt() - this.#drawn));
      this.#drawn += piece.length;
      if (!(await on.write(Buffer.concat([forgotten, piece])))) this.end();
      if (this.#asking === 0) await delay(REST_MS);
    }
  }

  #theScreen(): HeadlessTerminal {
    this.#screen ??= this.#screens.open(this.#opened);
    this.#sizes.applyUpTo(this.#drawn, this.#screen);
    return this.#screen;
  }

  #forgetScreen(): void {
    this.#screen?.end();
    this.#screen = null;
    this.#drawn = 0;
    this.#wanted = 0;
    this.#sizes.rewind();
  }
}
