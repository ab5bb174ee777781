/** What is on the terminal, as the service says. */
export type OnScreen = 'shell' | 'full_screen';

export type LookBackDeps = {
  /** Asks the service; `answered` follows, after the history that is sent for a shell. */
  ask(): void;
  /** Shows what is so many lines above the newest screen, once all output so far is on it. */
  showAbove(lines: number): void;
  /** Types so many arrow keys: up for less than 0, down for more. */
  arrows(count: number): void;
  /** Lines between what is shown and the newest screen. */
  above(): number;
  rows(): number;
  nowMs(): number;
};

/** What is believed without asking again, as long as output comes. */
const BELIEVED_MS = 1_000;
/** Without an answer for so long, the page scrolls what it has. */
const ANSWER_WITHIN_MS = 1_000;
/** From so much output on, the multiplexer may have left lines out without a sign. */
const MUCH_BYTES = 65_536;
const LINE_FEED = 10;

/**
 * Scrolling back in a terminal inside a multiplexer, which draws only the newest of what scrolls by fast, and hides
 * whether a program has the whole screen. So the first turn of the wheel waits for the service, which sends what is
 * missing; and in a program that has the whole screen the wheel becomes arrow keys, as terminals do.
 */
export class LookBack {
  readonly #deps: LookBackDeps;
  #muxed = false;
  #onScreen: OnScreen | null = null;
  #answeredAtMs = 0;
  #incomplete = false;
  #bytes = 0;
  #lineFeeds = 0;
  /** Lines above the newest screen to go to when the answer is there; null: nothing was asked. */
  #wanted: number | null = null;
  /** What the wheel was turned by since then, down for more than 0. */
  #turned = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: LookBackDeps) {
    this.#deps = deps;
  }

  /** Another stream, or the same one after a lost line. */
  connected(muxed: boolean): void {
    this.#muxed = muxed;
    this.#onScreen = null;
    this.#forget();
  }

  typed(): void {
    this.#onScreen = null;
  }

  resized(): void {
    this.#incomplete = true;
  }

  /** As many line feeds in a row as the screen has rows stand for more lines than are drawn. */
  output(data: Uint8Array): void {
    if (!this.#muxed) return;
    this.#bytes += data.length;
    if (this.#deps.nowMs() - this.#answeredAtMs > BELIEVED_MS) this.#onScreen = null;
    if (this.#incomplete) return;
    const rows = this.#deps.rows();
    for (const byte of data) {
      this.#lineFeeds = byte === LINE_FEED ? this.#lineFeeds + 1 : 0;
      if (this.#lineFeeds >= rows) this.#incomplete = true;
    }
    if (this.#bytes >= MUCH_BYTES) this.#incomplete = true;
  }

  /** The scrollback has all lines, up to what comes next. */
  complete(): void {
    this.#incomplete = false;
    this.#bytes = 0;
    this.#lineFeeds = 0;
  }

  /** The wheel was turned by so many lines, up for less than 0. False: the terminal scrolls by itself. */
  wheel(lines: number): boolean {
    if (!this.#muxed) return false;
    if (this.#wanted !== null) {
      this.#wanted -= lines;
      this.#turned += lines;
      return true;
    }
    if (this.#deps.above() > 0) return false;
    if (this.#onScreen === 'full_screen') this.#deps.arrows(lines);
    else if (this.#onScreen === 'shell' && (lines > 0 || !this.#incomplete)) return false;
    else this.#ask(-lines, lines);
    return true;
  }

  /** All of the scrollback is about to be looked through. */
  searching(): void {
    const mayAsk = this.#muxed && this.#wanted === null && this.#onScreen !== 'full_screen';
    if (mayAsk && this.#incomplete) this.#ask(this.#deps.above(), 0);
  }

  /** What is shown has moved away from the newest screen by other means than the wheel. */
  scrolled(): void {
    if (this.#deps.above() > 0) this.searching();
  }

  answered(onScreen: OnScreen): void {
    this.#onScreen = onScreen;
    this.#answeredAtMs = this.#deps.nowMs();
    const [wanted, turned] = [this.#wanted, this.#turned];
    this.#forget();
    // What a program with the whole screen scrolls goes into the scrollback, where it does not belong.
    if (onScreen === 'full_screen') this.#incomplete = true;
    else this.complete();
    if (wanted === null) return;
    if (onScreen === 'shell') this.#deps.showAbove(Math.max(0, wanted));
    else if (turned !== 0) this.#deps.arrows(turned);
  }

  dispose(): void {
    this.#forget();
  }

  #ask(wanted: number, turned: number): void {
    this.#wanted = wanted;
    this.#turned = turned;
    this.#timer = setTimeout(() => {
      const late = this.#wanted ?? 0;
      this.#forget();
      this.#deps.showAbove(Math.max(0, late));
    }, ANSWER_WITHIN_MS);
    this.#deps.ask();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#wanted = null;
  }
}
