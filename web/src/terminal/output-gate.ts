import { atSequenceEnd, drawingOf, effectsOf, withLastScreen } from './output-effects.ts';
import type { OutputQueue } from './output-queue.ts';

const NOTHING = new Uint8Array();
/** The size of a snapshot's text. */
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
 * Decides what is drawn of a multiplexer's output. Frozen, it draws nothing, but lets modes, titles and other effects
 * through; the multiplexer draws the rest again later. If it cannot, because it has ended or its connection is lost, the
 * output since the last snapshot is drawn.
 */
export class OutputGate {
  readonly #queue: OutputQueue;
  #muxed = false;
  #mode: 'live' | 'frozen' | 'buffering' = 'live';
  #open: Uint8Array = NOTHING;
  #buffered: Uint8Array[] = [];
  /** Output while frozen, since the last snapshot. */
  #missed: Uint8Array[] = [];
  /** Of the first one that counts: `shift` would move all others, and there may be many small ones. */
  #missedFrom = 0;
  #missedBytes = 0;

  constructor(queue: OutputQueue) {
    this.#queue = queue;
  }

  push(data: Uint8Array): void {
    if (!this.#muxed) {
      this.#queue.push(data);
      return;
    }
    const [complete, open] = atSequenceEnd(this.#open.length === 0 ? data : joined([this.#open, data]));
    // A copy, so that the frame itself can be freed.
    this.#open = open.slice();
    if (complete.length === 0) return;
    if (this.#mode === 'live') this.#queue.push(complete);
    else if (this.#mode === 'buffering') this.#buffered.push(complete);
    else this.#pass(complete);
  }

  /** Draws nothing from now on except `snapshot`, if given, in place of all queued output. */
  freeze(snapshot: Uint8Array = NOTHING, done: () => void = () => {}): void {
    const waiting = snapshot.length === 0 ? [] : this.#queue.takeWaiting();
    const effects = effectsOf(joined([...waiting, ...this.#buffered]));
    if (snapshot.length > 0) this.#forgetMissed();
    this.#buffered = [];
    this.#mode = 'frozen';
    this.#queue.push(joined([effects, snapshot]), done);
  }

  /** Keeps output from now on for `goLive`. */
  hold(): void {
    this.#mode = 'buffering';
  }

  /** Draws the buffered output; before it the output while frozen, unless the whole screen was drawn since (`isRedrawn`). */
  goLive(isRedrawn: boolean): void {
    this.#mode = 'live';
    const buffered = joined(this.#buffered);
    const waiting = isRedrawn
      ? buffered
      : withLastScreen(joined([drawingOf(joined(this.#missed.slice(this.#missedFrom))), buffered]));
    this.#buffered = [];
    this.#forgetMissed();
    if (waiting.length > 0) this.#queue.push(waiting);
  }

  /** `exact`: the output continues where it was; otherwise the old output is dropped. */
  connected(muxed: boolean, exact: boolean): void {
    this.#muxed = muxed;
    if (exact) return;
    this.#open = NOTHING;
    this.#buffered = [];
    this.#forgetMissed();
    this.#mode = 'live';
  }

  #pass(output: Uint8Array): void {
    const effects = effectsOf(output);
    if (effects.length > 0) this.#queue.push(effects);
    this.#missed.push(output);
    this.#missedBytes += output.length;
    while (this.#missedBytes > MAX_MISSED_BYTES) {
      this.#missedBytes -= this.#missed[this.#missedFrom]?.length ?? 0;
      this.#missedFrom += 1;
    }
    if (this.#missedFrom * 2 <= this.#missed.length) return;
    this.#missed = this.#missed.slice(this.#missedFrom);
    this.#missedFrom = 0;
  }

  #forgetMissed(): void {
    this.#missed = [];
    this.#missedFrom = 0;
    this.#missedBytes = 0;
  }
}
