import type { OnScreenFrame, Snapshot } from '../../../../src/protocol/terminal-frames.ts';
import { FrozenScreen } from './frozen-screen.ts';
import type { ScrollbackDeps } from './scrollback-deps.ts';
import { SnapshotRequest } from './snapshot-request.ts';

/** An answer about the program counts for this long while output comes. */
const ANSWER_COUNTS_MS = 1_000;
const REFRESH_MS = 1_000;
/** How long the multiplexer needs to learn a new size. */
const RESIZE_MS = 150;
const MAX_MISFITS = 10;
/** How long a search may take to move up from the newest screen. */
const SEARCH_MS = 300;

/**
 * Scrolling back in a terminal inside a multiplexer. The rows that such a terminal scrolls off are no history: the
 * multiplexer skips lines, and scrolls off rows that it has not drawn. So the user reads a snapshot by the multiplexer,
 * which stands still and is replaced by newer ones while output goes on; the return to the newest screen ends that. In a
 * program that uses the whole screen the wheel becomes arrow keys, as in other terminals.
 */
export class Scrollback {
  readonly #deps: ScrollbackDeps;
  readonly #screen: FrozenScreen;
  readonly #request = new SnapshotRequest();
  #muxed = false;
  #program: OnScreenFrame['program'] | null = null;
  #answeredAtMs = 0;
  /** Whether there may be more than the last request asked for. */
  #outdated = true;
  #lastId = 0;
  /** Set while the wheel waits for an answer: rows above the newest screen to go to, and lines turned (down: over 0). */
  #goal: { readonly rows: number; readonly turned: number } | null = null;
  #misfits = 0;
  #searches: (() => void)[] = [];
  #refresh: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: ScrollbackDeps) {
    this.#deps = deps;
    this.#screen = new FrozenScreen(deps, () => this.#nextId());
  }

  /** Whether the terminal shows and keeps what there was at one moment. */
  get isSnapshot(): boolean {
    return this.#screen.mode === 'frozen' && !this.#screen.isFilling;
  }

  /** Whether nothing has come since. */
  get isComplete(): boolean {
    return this.isSnapshot && !this.#outdated && !this.#request.isPending;
  }

  /** `exact`: the output goes on where it was when the line was lost. */
  connected(muxed: boolean, exact: boolean): void {
    this.#muxed = muxed;
    this.#program = null;
    this.#outdated = true;
    this.#forget();
    this.#endSearches();
    this.#screen.connected(exact && muxed);
    if (this.#screen.mode === 'frozen') this.#refreshIn(0);
  }

  /** There will be no more output. */
  ended(): void {
    this.#forget();
    this.#endSearches();
    this.#screen.ended();
  }

  typed(): void {
    this.#program = null;
  }

  resized(): void {
    this.#outdated = true;
    if (this.#screen.mode === 'frozen') this.#refreshIn(RESIZE_MS);
  }

  output(): void {
    if (!this.#muxed) return;
    this.#outdated = true;
    if (this.#deps.nowMs() - this.#answeredAtMs > ANSWER_COUNTS_MS) this.#program = null;
    if (this.isSnapshot) this.#refreshIn(REFRESH_MS);
  }

  /** The wheel was turned by this many lines, up for less than 0. False: the terminal scrolls by itself. */
  wheel(lines: number): boolean {
    if (!this.#muxed) return false;
    if (this.#goal !== null) {
      const { rows, turned } = this.#goal;
      this.#goal = { rows: rows - lines, turned: turned + lines };
      return true;
    }
    if (this.#deps.view.above() > 0) return false;
    if (this.#program === 'full_screen') this.#deps.view.arrows(lines);
    else if (this.#program === 'shell' && (lines > 0 || !this.#outdated)) return false;
    else {
      this.#goal = { rows: -lines, turned: lines };
      this.#requestSnapshot();
    }
    return true;
  }

  /** Before a search of the whole scrollback. Resolves when a snapshot is there, or cannot be had in time. */
  async searching(): Promise<void> {
    if (this.isSnapshot) return;
    if (this.#outdated && this.#mayRequest()) this.#requestSnapshot();
    if (this.#request.isPending || this.#screen.isFilling)
      await new Promise<void>((resolve) => this.#searches.push(resolve));
  }

  /** The view has moved, by wheel, key, scrollbar or search. */
  scrolled(): void {
    if (!this.#muxed || this.#screen.isFilling) return;
    const isBack = this.#deps.view.above() > 0;
    if (this.#screen.mode === 'frozen') {
      if (!isBack) this.#leave();
      return;
    }
    if (!isBack || !this.#mayRequest()) return;
    if (this.#outdated || this.#screen.mode === 'returning') this.#requestSnapshot();
    else this.#screen.freeze();
  }

  /** Ignores answers to all requests but the newest. */
  answered({ id, program, snapshot }: Omit<OnScreenFrame, 'type'>): void {
    if (!this.#request.isAnsweredBy(id)) return;
    const goal = this.#goal;
    this.#forget();
    this.#program = program;
    this.#answeredAtMs = this.#deps.nowMs();
    if (program === 'full_screen') {
      this.#outdated = true;
      this.#endSearches();
      if (this.#screen.mode === 'frozen') this.#leave();
      if (goal !== null && goal.turned !== 0) this.#deps.view.arrows(goal.turned);
    } else if (snapshot === null) {
      this.#outdated = true;
      this.#endSearches();
      if (goal !== null) this.#deps.view.showAbove(Math.max(0, goal.rows));
    } else if (this.#fits(snapshot)) {
      this.#fill(
        snapshot,
        Math.max(0, goal?.rows ?? this.#deps.view.above() + this.#screen.newRowsIn(snapshot)),
      );
    } else {
      this.#goal = goal;
      this.#misfits += 1;
      this.#refresh = setTimeout(() => this.#requestSnapshot(), RESIZE_MS);
    }
  }

  redrawn(id: number | null): void {
    this.#screen.redrawn(id);
  }

  dispose(): void {
    this.#forget();
    this.#endSearches();
    this.#screen.dispose();
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Another size would wrap lines differently. The size of a shared window may never match. */
  #fits({ cols, rows }: Snapshot): boolean {
    const size = this.#deps.view.size();
    return (size.cols === cols && size.rows === rows) || this.#misfits >= MAX_MISFITS;
  }

  #fill(snapshot: Snapshot, above: number): void {
    this.#misfits = 0;
    this.#screen.fill(snapshot, above, () => {
      const wasSearch = this.#endSearches();
      if (wasSearch) setTimeout(() => this.#filled(), SEARCH_MS);
      else this.#filled();
    });
  }

  #filled(): void {
    if (!this.isSnapshot) return;
    if (this.#deps.view.above() === 0) this.#leave();
    else if (this.#outdated) this.#refreshIn(REFRESH_MS);
  }

  /** Resolves the waiting searches. Whether there were any. */
  #endSearches(): boolean {
    const waiting = this.#searches.splice(0);
    for (const go of waiting) go();
    return waiting.length > 0;
  }

  #leave(): void {
    // A snapshot that was requested has not come, or not in this size.
    const isStale = this.#outdated || this.#request.isPending || this.#refresh !== undefined;
    if (isStale) this.#outdated = true;
    this.#forget();
    this.#screen.leave(isStale);
  }

  #mayRequest(): boolean {
    return this.#muxed && !this.#request.isPending && this.#program !== 'full_screen';
  }

  /** Waits while something is selected, which a new snapshot would clear. */
  #refreshIn(ms: number): void {
    if (this.#request.isPending) return;
    if (this.#refresh !== undefined && ms > RESIZE_MS) return;
    clearTimeout(this.#refresh);
    this.#refresh = setTimeout(() => {
      this.#refresh = undefined;
      if (this.#screen.mode !== 'frozen' || !this.#outdated) return;
      if (this.#deps.view.hasSelection()) this.#refreshIn(REFRESH_MS);
      else this.#requestSnapshot();
    }, ms);
  }

  #requestSnapshot(): void {
    clearTimeout(this.#refresh);
    this.#refresh = undefined;
    this.#outdated = false;
    const id = this.#nextId();
    this.#request.begin(id, {
      late: () => {
        if (this.#goal !== null) this.#deps.view.showAbove(Math.max(0, this.#goal.rows));
        this.#goal = null;
        this.#endSearches();
      },
      gaveUp: () => {
        this.#forget();
        this.#outdated = true;
        if (this.#screen.mode === 'frozen') this.#refreshIn(0);
      },
    });
    this.#deps.service.requestSnapshot(id);
  }

  #forget(): void {
    this.#request.end();
    clearTimeout(this.#refresh);
    this.#refresh = undefined;
    this.#goal = null;
  }
}
