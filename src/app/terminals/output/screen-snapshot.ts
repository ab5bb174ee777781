import { setTimeout as delay } from 'node:timers/promises';
import { trackModes } from '../../../domain/terminals/terminal-mode-tracker.ts';
import { MAX_TAIL_BYTES, partialSequence } from '../../../domain/terminals/terminal-partial-sequence.ts';
import type {
  HeadlessTerminal,
  HeadlessTerminals,
  ScreenSize,
} from '../../../ports/terminals/headless-terminal.ts';
import type { OutputBuffer } from './output-buffer.ts';

/** Drawn at once; a millisecond, as a rule. */
const SLICE_BYTES = 8_192;
/** Between two slices of what nobody waits for. */
const REST_MS = 3;
const MAX_SIZES = 64;

export type Pace = {
  /** Undrawn output at which drawing begins, well before the log forgets it, and down to which it is drawn. */
  readonly behindBytes: number;
  readonly closeBytes: number;
  /**
   * What writes faster is left alone until it slows down: a flood that takes turns with others writes about so much, and they
   * would all be drawn. Where that goes on for longer than the log holds, a picture lacks what was drawn before.
   */
  readonly calmMs: number;
  readonly calmBytes: number;
};

const PACE: Pace = { behindBytes: 1_310_720, closeBytes: 1_048_576, calmMs: 1_000, calmBytes: 65_536 };

export type ScreenSnapshot = {
  /** Draws an empty screen. */
  readonly bytes: Buffer;
  /** The output that it shows ends here. */
  readonly offset: number;
};

/** What is on a screen that was drawn up to `offset`, and what it can not show: half a character, or half a sequence. */
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
 * The screen that the output makes which a log has, without its scrollback; null when it can not be drawn. What the log has
 * forgotten is missing, which no multiplexer minds: it draws everything again when it is told to.
 */
export async function snapshotOfBuffer(
  buffer: OutputBuffer,
  screens: HeadlessTerminals,
  size: ScreenSize,
): Promise<ScreenSnapshot | null> {
  let screen: HeadlessTerminal | null = null;
  try {
    screen = screens.open(size);
    let at = buffer.start();
    for (const upTo = buffer.end(); at < upTo; at = Math.max(at, buffer.start())) {
      const piece = buffer.read(at, SLICE_BYTES);
      at += piece.length;
      if (!(await screen.write(piece))) return null;
    }
    return takeSnapshot(screen, buffer, at, false);
  } catch {
    return null;
  } finally {
    screen?.end();
  }
}

/** The sizes of a screen with the offsets in its output from which they hold. */
class SizeHistory {
  readonly #sizes: { readonly at: number; readonly size: ScreenSize }[] = [];
  #applied = 0;

  constructor(opened: ScreenSize) {
    this.#sizes.push({ at: 0, size: opened });
  }

  add(at: number, size: ScreenSize): void {
    const sizes = this.#sizes;
    // Where nothing was written between two, the later one counts; of very many the oldest are not worth keeping.
    if (sizes.length > this.#applied && (sizes.at(-1)?.at === at || sizes.length > MAX_SIZES)) sizes.pop();
    sizes.push({ at, size });
  }

  /** Makes the screen as large as it is at this offset. */
  applyUpTo(offset: number, screen: HeadlessTerminal): void {
    let next = this.#sizes[this.#applied];
    while (next !== undefined && next.at <= offset) {
      screen.resize(next.size);
      this.#applied += 1;
      next = this.#sizes[this.#applied];
    }
  }

  /** Where the next size begins. */
  nextAt(): number {
    return this.#sizes[this.#applied]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** For a new screen. */
  rewind(): void {
    this.#applied = 0;
  }
}

/**
 * The screen that a terminal's whole output makes, of which the log holds the newest part. Nothing is drawn before the
 * log is about to forget something or somebody asks for a picture, so that it costs a terminal nothing that writes little.
 */
export class ScreenHistory {
  readonly #log: OutputBuffer;
  readonly #screens: HeadlessTerminals;
  readonly #opened: ScreenSize;
  readonly #pace: Pace;
  readonly #sizes: SizeHistory;
  readonly #gap = trackModes();
  #screen: HeadlessTerminal | null = null;
  /** All output before it is on the screen, or on its way there. */
  #drawn = 0;
  #wanted = 0;
  #asking = 0;
  #drawing: Promise<void> | null = null;
  #calm: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(buffer: OutputBuffer, screens: HeadlessTerminals, opened: ScreenSize, pace = PACE) {
    this.#log = buffer;
    this.#screens = screens;
    this.#opened = opened;
    this.#pace = pace;
    this.#sizes = new SizeHistory(opened);
  }

  /** There is more output. */
  grown(): void {
    const isIdle = this.#calm === undefined && this.#drawing === null && !this.#ended;
    if (isIdle && this.#isBehind()) this.#drawWhenCalm();
  }

  /** The log forgets these bytes, which begin at this offset. */
  forgets(bytes: Buffer, at: number): void {
    if (this.#ended || at + bytes.length <= this.#drawn) return;
    this.#gap.add(bytes.subarray(Math.max(0, this.#drawn - at)));
    this.#drawn = at + bytes.length;
  }

  resized(next: ScreenSize): void {
    this.#sizes.add(this.#log.end(), next);
  }

  /** All output so far as a picture; null when the terminal has ended, or can not be drawn. */
  async snapshot(withScrollback = true): Promise<ScreenSnapshot | null> {
    this.#asking += 1;
    try {
      const upTo = this.#log.end();
      // Also while the last of it is being drawn for somebody else.
      while (!this.#ended && (this.#drawing !== null || this.#lacks(upTo))) await this.#drawUpTo(upTo);
      return this.#ended ? null : takeSnapshot(this.#theScreen(), this.#log, this.#drawn, withScrollback);
    } catch {
      this.end();
      return null;
    } finally {
      this.#asking -= 1;
      // As long as the log has everything, it can be drawn again.
      if (this.#log.start() === 0 && this.#asking === 0) this.#forgetScreen();
    }
  }

  /** Also when the program writes what costs too much, for which others pay, or what can not be drawn. */
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

  /** Draws what the log may soon forget, once it comes slowly. */
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
