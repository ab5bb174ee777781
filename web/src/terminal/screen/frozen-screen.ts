import type { Snapshot } from '../../../../src/protocol/terminal-frames.ts';

/** How output is treated. */
export type ScrollbackOutput = {
  /** From now on output changes nothing that is shown, until `goLive`. */
  freeze(): void;
  /** Output from now on is shown at `goLive`. */
  hold(): void;
  /** Draws output from now on; before it what was not drawn since the last snapshot, unless the screen was drawn since. */
  goLive(isRedrawn: boolean): void;
};

export type FrozenScreenDeps = {
  readonly service: {
    /** Asks for all of the newest screen as output; `redrawn` follows. */
    requestRedraw(id: number): void;
  };
  readonly output: ScrollbackOutput;
  readonly view: {
    /** Freezes, fills the terminal with the snapshot, scrolls to `above` rows above its screen, and calls `done`. */
    show(snapshot: Snapshot, above: number, done: () => void): void;
  };
};

/** How long a return to the newest screen waits for its drawing. */
const REDRAW_WITHIN_MS = 500;

/** `frozen`: output changes nothing that is shown. `returning`: waits until tmux has drawn the newest screen. */
type Mode = 'live' | 'frozen' | 'returning';

/** A terminal that stands still while the user reads its scrollback, and its return to the newest screen. */
export class FrozenScreen {
  readonly #deps: FrozenScreenDeps;
  readonly #nextId: () => number;
  #mode: Mode = 'live';
  #isFilling = false;
  /** Whether there was output since the last full drawing, a snapshot or the answer to `requestRedraw`. */
  #isStale = false;
  #redrawId = 0;
  #historyRows = 0;
  #return: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: FrozenScreenDeps, nextId: () => number) {
    this.#deps = deps;
    this.#nextId = nextId;
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** Whether a snapshot is being drawn. */
  get isFilling(): boolean {
    return this.#isFilling;
  }

  freeze(): void {
    this.#mode = 'frozen';
    this.#deps.output.freeze();
  }

  fill(snapshot: Snapshot, above: number, done: () => void): void {
    this.#mode = 'frozen';
    this.#isStale = false;
    this.#historyRows = snapshot.history_rows;
    this.#isFilling = true;
    clearTimeout(this.#return);
    this.#deps.view.show(snapshot, above, () => {
      this.#isFilling = false;
      done();
    });
  }

  /** How many rows a newer snapshot has above those of the one that is shown. */
  newRowsIn({ history_rows: rows }: Snapshot): number {
    return this.#mode === 'frozen' ? Math.max(0, rows - this.#historyRows) : 0;
  }

  /** Returns to the newest screen. `isStale`: there was output meanwhile. */
  leave(isStale: boolean): void {
    this.#isStale = isStale;
    this.#hold();
    this.#requestRedraw();
    // Without output the snapshot is the newest screen.
    if (!isStale) this.#live(true);
  }

  redrawn(id: number | null): void {
    if (id !== this.#redrawId) return;
    this.#isStale = false;
    if (this.#mode === 'returning') this.#live(true);
  }

  /** `continues`: the output goes on where it was when the line was lost, and a frozen screen stays. */
  connected(continues: boolean): void {
    clearTimeout(this.#return);
    if (!continues) this.#isStale = false;
    if (continues && this.#mode === 'frozen') return;
    if (this.#isStale) {
      this.#hold();
      // The line is not open yet.
      this.#return = setTimeout(() => this.#requestRedraw(), 0);
    } else this.#live(true);
  }

  /** There will be no more output. */
  ended(): void {
    if (this.#mode !== 'live') this.#live(false);
  }

  dispose(): void {
    clearTimeout(this.#return);
  }

  #hold(): void {
    this.#mode = 'returning';
    this.#deps.output.hold();
  }

  #requestRedraw(): void {
    this.#redrawId = this.#nextId();
    this.#return = setTimeout(() => this.#live(false), REDRAW_WITHIN_MS);
    this.#deps.service.requestRedraw(this.#redrawId);
  }

  #live(isRedrawn: boolean): void {
    clearTimeout(this.#return);
    this.#mode = 'live';
    this.#deps.output.goLive(isRedrawn);
  }
}
