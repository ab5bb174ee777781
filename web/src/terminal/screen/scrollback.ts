import type { OnScreenFrame, Snapshot } from '../../../../src/protocol/terminal-frames.ts';
import type { Size } from '../connection/terminal-protocol.ts';

type OnScreen = OnScreenFrame['program'];

/** Questions to the service. */
export type ScrollbackService = {
  /** Asks for a snapshot; `answered` follows. */
  ask(id: number): void;
  /** Asks for all of the newest screen as output; `redrawn` follows. */
  redraw(id: number): void;
};

/** What becomes of the output. */
export type ScrollbackOutput = {
  /** From now on output changes nothing that is shown, until `goLive`. */
  freeze(): void;
  /** Output from now on is shown at `goLive`. */
  hold(): void;
  /** Output is drawn from now on; first what was not drawn since the last snapshot, unless the newest screen was drawn since. */
  goLive(isRedrawn: boolean): void;
};

/** The terminal of the page. */
type ScrollbackView = {
  /** Freezes, fills the terminal with the snapshot, shows what is so many rows above its screen, and calls back. */
  show(snapshot: Snapshot, above: number, done: () => void): void;
  /** Shows what is so many rows above the newest screen, once all output so far is on it. */
  showAbove(rows: number): void;
  /** Types so many arrow keys: up for less than 0, down for more. */
  arrows(count: number): void;
  /** Rows between what is shown and the newest screen. */
  above(): number;
  size(): Size;
  hasSelection(): boolean;
};

type LookBackDeps = {
  readonly service: ScrollbackService;
  readonly output: ScrollbackOutput;
  readonly view: ScrollbackView;
  nowMs(): number;
};

/** What is believed without asking again, as long as output comes. */
const BELIEVED_MS = 1_000;
/** Without an answer for so long, the page scrolls what it has. */
const ANSWER_WITHIN_MS = 1_000;
/** Without an answer for so long, it is asked again. */
const GIVE_UP_MS = 10_000;
const REFRESH_MS = 1_000;
/** What the multiplexer needs to hear of another size. */
const RESIZE_MS = 150;
const MAX_MISFITS = 10;
/** How long a search may take to go up from the newest screen. */
const SEARCH_MS = 300;
/** How long a return to the newest screen waits for its drawing. */
const REDRAW_WITHIN_MS = 500;

/**
 * Scrolling back in a terminal inside a multiplexer. What such a terminal scrolls off by itself is no history: the multiplexer
 * leaves out lines, and scrolls off rows that it has not drawn. So whoever scrolls back is shown a snapshot of the multiplexer's own,
 * which stands still and is replaced by a newer one while output goes on; the return to the newest screen ends that. In a
 * program that has the whole screen the wheel becomes arrow keys, as terminals do.
 */
export class LookBack {
  readonly #deps: LookBackDeps;
  #muxed = false;
  #mode: 'live' | 'frozen' | 'returning' = 'live';
  #onScreen: OnScreen | null = null;
  #answeredAtMs = 0;
  /** Whether there may be more than what was last asked for. */
  #outdated = true;
  /** Whether output was not drawn by tmux since the last full drawing, a snapshot or the answer to `redraw`. */
  #isStale = false;
  #redrawId = 0;
  #lastId = 0;
  #pendingId: number | null = null;
  /** Rows above the newest screen to go to when the answer is there; null: the wheel did not ask. */
  #wanted: number | null = null;
  /** What the wheel was turned by since then, down for more than 0. */
  #turned = 0;
  #historyRows = 0;
  #misfits = 0;
  #isFilling = false;
  #searches: (() => void)[] = [];
  #late: ReturnType<typeof setTimeout> | undefined;
  #giveUp: ReturnType<typeof setTimeout> | undefined;
  #refresh: ReturnType<typeof setTimeout> | undefined;
  #return: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: LookBackDeps) {
    this.#deps = deps;
  }

  /** Whether the terminal has what there was at one moment, and keeps it. */
  get isSnapshot(): boolean {
    return this.#mode === 'frozen' && !this.#isFilling;
  }

  /** Whether there has been nothing since. */
  get isComplete(): boolean {
    return this.isSnapshot && !this.#outdated && this.#pendingId === null;
  }

  /** `exact`: the output goes on where it was when the line was lost. */
  connected(muxed: boolean, exact: boolean): void {
    this.#muxed = muxed;
    this.#onScreen = null;
    this.#outdated = true;
    this.#forget();
    this.#search();
    clearTimeout(this.#return);
    const goesOn = exact && muxed;
    if (!goesOn) this.#isStale = false;
    if (goesOn && this.#mode === 'frozen') this.#refreshIn(0);
    else if (this.#isStale) {
      this.#hold();
      // The line is not open yet.
      this.#return = setTimeout(() => this.#askToDraw(), 0);
    } else this.#live(true);
  }

  /** There will be no more output. */
  ended(): void {
    this.#forget();
    this.#search();
    if (this.#mode !== 'live') this.#live(false);
  }

  typed(): void {
    this.#onScreen = null;
  }

  resized(): void {
    this.#outdated = true;
    if (this.#mode === 'frozen') this.#refreshIn(RESIZE_MS);
  }

  output(): void {
    if (!this.#muxed) return;
    this.#outdated = true;
    if (this.#deps.nowMs() - this.#answeredAtMs > BELIEVED_MS) this.#onScreen = null;
    if (this.#mode === 'frozen' && !this.#isFilling) this.#refreshIn(REFRESH_MS);
  }

  /** The wheel was turned by so many lines, up for less than 0. False: the terminal scrolls by itself. */
  wheel(lines: number): boolean {
    if (!this.#muxed) return false;
    if (this.#wanted !== null) {
      this.#wanted -= lines;
      this.#turned += lines;
      return true;
    }
    if (this.#deps.view.above() > 0) return false;
    if (this.#onScreen === 'full_screen') this.#deps.view.arrows(lines);
    else if (this.#onScreen === 'shell' && (lines > 0 || !this.#outdated)) return false;
    else {
      this.#wanted = -lines;
      this.#turned = lines;
      this.#ask();
    }
    return true;
  }

  /** All of the scrollback is about to be looked through: resolves when it is there, or is not to be had in time. */
  async searching(): Promise<void> {
    if (this.isSnapshot) return;
    if (this.#outdated && this.#mayAsk()) this.#ask();
    if (this.#pendingId !== null || this.#isFilling)
      await new Promise<void>((resolve) => this.#searches.push(resolve));
  }

  /** What is shown has moved, by whatever means. */
  scrolled(): void {
    if (!this.#muxed || this.#isFilling) return;
    const isBack = this.#deps.view.above() > 0;
    if (this.#mode === 'frozen') {
      if (!isBack) this.#leave();
      return;
    }
    if (!isBack || !this.#mayAsk()) return;
    if (this.#outdated || this.#mode === 'returning') this.#ask();
    else {
      this.#mode = 'frozen';
      this.#deps.output.freeze();
    }
  }

  /** Answers to older questions than the last one come to nothing. */
  answered({ id, program: onScreen, snapshot }: Omit<OnScreenFrame, 'type'>): void {
    if (id === null || id !== this.#pendingId) return;
    const [wanted, turned] = [this.#wanted, this.#turned];
    this.#forget();
    this.#onScreen = onScreen;
    this.#answeredAtMs = this.#deps.nowMs();
    if (onScreen === 'full_screen') {
      this.#outdated = true;
      this.#search();
      if (this.#mode === 'frozen') this.#leave();
      if (wanted !== null && turned !== 0) this.#deps.view.arrows(turned);
    } else if (snapshot === null) {
      this.#outdated = true;
      this.#search();
      if (wanted !== null) this.#deps.view.showAbove(Math.max(0, wanted));
    } else if (this.#fits(snapshot)) {
      this.#fill(snapshot, Math.max(0, wanted ?? this.#samePlaceIn(snapshot)));
    } else {
      [this.#wanted, this.#turned] = [wanted, turned];
      this.#misfits += 1;
      this.#refresh = setTimeout(() => this.#ask(), RESIZE_MS);
    }
  }

  redrawn(id: number | null): void {
    if (id !== this.#redrawId) return;
    this.#isStale = false;
    if (this.#mode === 'returning') this.#live(true);
  }

  dispose(): void {
    this.#forget();
    this.#search();
    clearTimeout(this.#return);
  }

  /** Another size would wrap the lines to other rows. That of a window that others rule may never be the same. */
  #fits({ cols, rows }: Snapshot): boolean {
    const size = this.#deps.view.size();
    return (size.cols === cols && size.rows === rows) || this.#misfits >= MAX_MISFITS;
  }

  #samePlaceIn({ history_rows: historyRows }: Snapshot): number {
    const newRows = this.#mode === 'frozen' ? Math.max(0, historyRows - this.#historyRows) : 0;
    return this.#deps.view.above() + newRows;
  }

  #fill(snapshot: Snapshot, above: number): void {
    this.#mode = 'frozen';
    this.#isStale = false;
    this.#misfits = 0;
    this.#historyRows = snapshot.history_rows;
    this.#isFilling = true;
    clearTimeout(this.#return);
    this.#deps.view.show(snapshot, above, () => {
      this.#isFilling = false;
      const found = this.#search();
      if (found) setTimeout(() => this.#settle(), SEARCH_MS);
      else this.#settle();
    });
  }

  #settle(): void {
    if (this.#mode !== 'frozen' || this.#isFilling) return;
    if (this.#deps.view.above() === 0) this.#leave();
    else if (this.#outdated) this.#refreshIn(REFRESH_MS);
  }

  /** Whether somebody waited for it. */
  #search(): boolean {
    const waiting = this.#searches.splice(0);
    for (const go of waiting) go();
    return waiting.length > 0;
  }

  /** Back to the newest screen, of which nothing was drawn meanwhile. */
  #leave(): void {
    // What was asked for has not come, or not in this size.
    this.#isStale = this.#outdated || this.#pendingId !== null || this.#refresh !== undefined;
    if (this.#isStale) this.#outdated = true;
    this.#forget();
    this.#hold();
    this.#askToDraw();
    // Nothing came: the snapshot is the newest screen.
    if (!this.#isStale) this.#live(true);
  }

  #hold(): void {
    this.#mode = 'returning';
    this.#deps.output.hold();
  }

  #askToDraw(): void {
    this.#lastId += 1;
    this.#redrawId = this.#lastId;
    this.#return = setTimeout(() => this.#live(false), REDRAW_WITHIN_MS);
    this.#deps.service.redraw(this.#redrawId);
  }

  #live(isRedrawn: boolean): void {
    clearTimeout(this.#return);
    this.#mode = 'live';
    this.#deps.output.goLive(isRedrawn);
  }

  #mayAsk(): boolean {
    return this.#muxed && this.#pendingId === null && this.#onScreen !== 'full_screen';
  }

  /** Not while something is selected, which would be lost. */
  #refreshIn(ms: number): void {
    if (this.#pendingId !== null) return;
    if (this.#refresh !== undefined && ms > RESIZE_MS) return;
    clearTimeout(this.#refresh);
    this.#refresh = setTimeout(() => {
      this.#refresh = undefined;
      if (this.#mode !== 'frozen' || !this.#outdated) return;
      if (this.#deps.view.hasSelection()) this.#refreshIn(REFRESH_MS);
      else this.#ask();
    }, ms);
  }

  #ask(): void {
    clearTimeout(this.#refresh);
    this.#refresh = undefined;
    this.#outdated = false;
    this.#lastId += 1;
    this.#pendingId = this.#lastId;
    this.#late = setTimeout(() => {
      if (this.#wanted !== null) this.#deps.view.showAbove(Math.max(0, this.#wanted));
      this.#wanted = null;
      this.#search();
    }, ANSWER_WITHIN_MS);
    this.#giveUp = setTimeout(() => {
      this.#forget();
      this.#outdated = true;
      if (this.#mode === 'frozen') this.#refreshIn(0);
    }, GIVE_UP_MS);
    this.#deps.service.ask(this.#lastId);
  }

  #forget(): void {
    for (const timer of [this.#late, this.#giveUp, this.#refresh]) clearTimeout(timer);
    this.#refresh = undefined;
    this.#pendingId = null;
    this.#wanted = null;
  }
}
