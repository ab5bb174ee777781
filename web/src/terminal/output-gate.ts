import type { OutputQueue } from './connection/output-queue.ts';
import { atSequenceEnd, drawingOf, effectsOf, withLastScreen } from './output-effects.ts';

const NOTHING = new Uint8Array();
/** As much as the text of a snapshot has. */
const MAX_MISSED_BYTES = 1024 * 1024;

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/**
 * What is drawn of a multiplexer's output. Frozen, it draws nothing, but modes, titles and the like go through: what is missing
 * on the screen then, the multiplexer draws once more. If it does not, because it has ended or its line is away, what came since
 * the last picture is drawn.
 */
export class OutputGate {
  readonly #queue: OutputQueue;
  #muxed = false;
  #mode: 'live' | 'frozen' | 'held' = 'live';
  #open: Uint8Array = NOTHING;
  #held: Uint8Array[] = [];
  /** What came while frozen, since the last picture. */
  #missed: Uint8Array[] = [];
  #missedBytes = 0;

  constructor(queue: OutputQueue) {
    this.#queue = queue;
  }

  push(data: Uint8Array): void {
    if (!this.#muxed) {
      this.#queue.push(data);
      return;
    }
    const [whole, open] = atSequenceEnd(this.#open.length === 0 ? data : joined([this.#open, data]));
    // A copy: the rest is of a frame that is let go.
    this.#open = open.slice();
    if (whole.length === 0) return;
    if (this.#mode === 'live') this.#queue.push(whole);
    else if (this.#mode === 'held') this.#held.push(whole);
    else this.#pass(whole);
  }

  /** Draws nothing from now on but `picture`, if given, in place of all that waits. */
  freeze(picture: Uint8Array = NOTHING, done: () => void = () => {}): void {
    const waiting = picture.length === 0 ? [] : this.#queue.takeWaiting();
    const effects = effectsOf(joined([...waiting, ...this.#held]));
    if (picture.length > 0) this.#forgetMissed();
    this.#held = [];
    this.#mode = 'frozen';
    this.#queue.push(joined([effects, picture]), done);
  }

  /** Keeps what comes from now on for `goLive`. */
  hold(): void {
    this.#mode = 'held';
  }

  /** Draws what was held; before it, what came while frozen, unless all of the screen was drawn since (`isRedrawn`). */
  goLive(isRedrawn: boolean): void {
    this.#mode = 'live';
    const held = joined(this.#held);
    const waiting = isRedrawn ? held : withLastScreen(joined([drawingOf(joined(this.#missed)), held]));
    this.#held = [];
    this.#forgetMissed();
    if (waiting.length > 0) this.#queue.push(waiting);
  }

  /** `exact`: the output goes on where it was; else nothing of the old one is wanted. */
  connected(muxed: boolean, exact: boolean): void {
    this.#muxed = muxed;
    if (exact) return;
    this.#open = NOTHING;
    this.#held = [];
    this.#forgetMissed();
    this.#mode = 'live';
  }

  #pass(output: Uint8Array): void {
    const effects = effectsOf(output);
    if (effects.length > 0) this.#queue.push(effects);
    this.#missed.push(output);
    this.#missedBytes += output.length;
    while (this.#missedBytes > MAX_MISSED_BYTES) this.#missedBytes -= this.#missed.shift()?.length ?? 0;
  }

  #forgetMissed(): void {
    this.#missed = [];
    this.#missedBytes = 0;
  }
}
