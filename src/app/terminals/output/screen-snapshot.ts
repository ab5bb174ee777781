import { setTimeout as delay } from 'node:timers/promises';
import { trackModes } from '../../../domain/terminals/terminal-mode-tracker.ts';
import { MAX_TAIL_BYTES, unfinished } from '../../../domain/terminals/terminal-partial-sequence.ts';
import type { Screen, ScreenSize, Screens } from '../../../ports/terminals/headless-terminal.ts';
import type { OutputLog } from './output-buffer.ts';

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

export type Picture = {
  /** Draws an empty screen. */
  readonly bytes: Buffer;
  /** The output that it shows ends here. */
  readonly offset: number;
};

/** What is on a screen that was drawn up to `offset`, and what it can not show: half a character, or half a sequence. */
function takePicture(screen: Screen, log: OutputLog, offset: number, withScrollback: boolean): Picture {
  const tail = log.range(Math.max(log.start(), offset - MAX_TAIL_BYTES), offset);
  return { bytes: Buffer.concat([screen.picture(withScrollback), unfinished(tail)]), offset };
}

/**
 * The screen that the output makes which a log has, without its scrollback; null when it can not be drawn. What the log has
 * forgotten is missing, which no multiplexer minds: it draws everything again when it is told to.
 */
export async function snapshotOfBuffer(
  log: OutputLog,
  screens: Screens,
  size: ScreenSize,
): Promise<Picture | null> {
  let screen: Screen | null = null;
  try {
    screen = screens.open(size);
    let at = log.start();
    for (const upTo = log.end(); at < upTo; at = Math.max(at, log.start())) {
      const piece = log.read(at, SLICE_BYTES);
      at += piece.length;
      if (!(await screen.write(piece))) return null;
    }
    return takePicture(screen, log, at, false);
  } catch {
    return null;
  } finally {
    screen?.end();
  }
}

/**
 * The screen that a terminal's whole output makes, of which the log holds the newest part. Nothing is drawn before the
 * log is about to forget something or somebody asks for a picture, so that it costs a terminal nothing that writes little.
 */
export function screenHistory(log: OutputLog, screens: Screens, opened: ScreenSize, pace = PACE) {
  const sizes: { readonly at: number; readonly size: ScreenSize }[] = [{ at: 0, size: opened }];
  let sized = 0;
  let screen: Screen | null = null;
  /** All output before it is on the screen, or on its way there. */
  let drawn = 0;
  let wanted = 0;
  let asking = 0;
  let drawing: Promise<void> | null = null;
  let calm: NodeJS.Timeout | undefined;
  let ended = false;
  const gap = trackModes();

  async function draw(): Promise<void> {
    while (!ended && (drawn < wanted || !gap.isEmpty())) {
      const on = theScreen();
      const forgotten = gap.isEmpty() ? Buffer.alloc(0) : gap.take();
      const piece = log.read(drawn, untilResize());
      drawn += piece.length;
      if (!(await on.write(Buffer.concat([forgotten, piece])))) end();
      if (asking === 0) await delay(REST_MS);
    }
  }

  function theScreen(): Screen {
    screen ??= screens.open(opened);
    for (let next = sizes[sized]; next !== undefined && next.at <= drawn; next = sizes[sized]) {
      screen.resize(next.size);
      sized += 1;
    }
    return screen;
  }

  const untilResize = (): number =>
    Math.min(SLICE_BYTES, (sizes[sized]?.at ?? Number.POSITIVE_INFINITY) - drawn);

  function drawUpTo(offset: number): Promise<void> {
    wanted = Math.max(wanted, offset);
    drawing ??= draw()
      .catch(end)
      .finally(() => {
        drawing = null;
      });
    return drawing;
  }

  /** Draws what the log may soon forget, once it comes slowly. */
  function whenCalm(): void {
    const before = log.end();
    calm = setTimeout(() => {
      calm = undefined;
      if (ended || log.end() - drawn < pace.behindBytes) return;
      if (log.end() - before > pace.calmBytes) return whenCalm();
      void drawUpTo(log.end() - pace.closeBytes).then(() => grown());
    }, pace.calmMs);
  }

  function grown(): void {
    if (log.end() - drawn >= pace.behindBytes && calm === undefined && drawing === null && !ended) whenCalm();
  }

  return {
    /** There is more output. */
    grown,

    /** The log forgets these bytes, which begin at this offset. */
    forgets(bytes: Buffer, at: number): void {
      if (ended || at + bytes.length <= drawn) return;
      gap.add(bytes.subarray(Math.max(0, drawn - at)));
      drawn = at + bytes.length;
    },

    resized(next: ScreenSize): void {
      if (ended) return;
      // Where nothing was written between two, the later one counts; of very many the oldest are not worth keeping.
      if (sizes.length > sized && (sizes.at(-1)?.at === log.end() || sizes.length > MAX_SIZES)) sizes.pop();
      sizes.push({ at: log.end(), size: next });
    },

    /** All output so far as a picture; null when the terminal has ended, or can not be drawn. */
    async picture(withScrollback = true): Promise<Picture | null> {
      asking += 1;
      try {
        const upTo = log.end();
        // Also while the last of it is being drawn for somebody else.
        while (!ended && (drawing !== null || drawn < upTo || !gap.isEmpty())) await drawUpTo(upTo);
        return ended ? null : takePicture(theScreen(), log, drawn, withScrollback);
      } catch {
        end();
        return null;
      } finally {
        asking -= 1;
        // As long as the log has everything, it can be drawn again.
        if (log.start() === 0 && asking === 0 && drawing === null) forgetScreen();
      }
    },

    end,
  };

  /** Also when the program writes what costs too much, for which others pay, or what can not be drawn. */
  function end(): void {
    ended = true;
    clearTimeout(calm);
    screen?.end();
    screen = null;
  }

  function forgetScreen(): void {
    screen?.end();
    screen = null;
    drawn = 0;
    wanted = 0;
    sized = 0;
  }
}
