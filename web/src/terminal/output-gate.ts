import { atSequenceEnd, effectsOf } from './output-effects.ts';
import type { OutputQueue } from './output-queue.ts';

const NOTHING = new Uint8Array();

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
 * on the screen then, the multiplexer draws once more.
 */
export class OutputGate {
  readonly #queue: OutputQueue;
  #muxed = false;
  #mode: 'live' | 'frozen' | 'held' = 'live';
  #open: Uint8Array = NOTHING;
  #held: Uint8Array[] = [];

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
    else this.#pass([whole]);
  }

  /** Draws nothing from now on but `picture`, if given, in place of all that waits. */
  freeze(picture: Uint8Array = NOTHING, done: () => void = () => {}): void {
    const waiting = picture.length === 0 ? [] : this.#queue.takeWaiting();
    const effects = effectsOf(joined([...waiting, ...this.#held]));
    this.#held = [];
    this.#mode = 'frozen';
    this.#queue.push(joined([effects, picture]), done);
  }

  /** Keeps what comes from now on for `goLive`. */
  hold(): void {
    this.#mode = 'held';
  }

  goLive(): void {
    this.#mode = 'live';
    const held = this.#held;
    this.#held = [];
    if (held.length > 0) this.#queue.push(joined(held));
  }

  /** `exact`: the output goes on where it was; else nothing of the old one is wanted. */
  connected(muxed: boolean, exact: boolean): void {
    this.#muxed = muxed;
    if (exact) return;
    this.#open = NOTHING;
    this.#held = [];
    this.#mode = 'live';
  }

  #pass(output: readonly Uint8Array[]): void {
    const effects = effectsOf(joined(output));
    if (effects.length > 0) this.#queue.push(effects);
  }
}
