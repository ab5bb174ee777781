import type { Writable } from 'node:stream';
import { asTmuxKeys, incompleteInput } from './tmux-keys.ts';

/**
 * How long the beginning of a character or of a key waits for its rest. Then it goes on as it is, byte by byte, so nothing
 * is lost whenever the rest comes. The Escape key waits as well: less than anybody notices.
 */
const HOLD_MS = 25;

type Waiting = { readonly end: number; readonly done: () => void };

/** Input of one terminal inside tmux. */
export class TmuxInput {
  readonly #stream: Writable;
  #held: Buffer = Buffer.alloc(0);
  #taken = 0;
  #waiting: readonly Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.once('close', () => clearTimeout(this.#timer));
  }

  /** `done` when the stream has all of it, and all before it. */
  write(input: Buffer, done: () => void): void {
    this.#taken += input.length;
    this.#waiting = [...this.#waiting, { end: this.#taken, done }];
    if (input.length === 0 && this.#held.length > 0) return;
    clearTimeout(this.#timer);
    const all = this.#held.length === 0 ? input : Buffer.concat([this.#held, input]);
    this.#held = incompleteInput(all);
    this.#send(all.subarray(0, all.length - this.#held.length));
    if (this.#held.length > 0) this.#timer = setTimeout(() => this.#release(), HOLD_MS);
  }

  #release(): void {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    this.#send(held);
  }

  #send(input: Buffer): void {
    const sent = this.#taken - this.#held.length;
    const over = this.#waiting.filter(({ end }) => end <= sent);
    this.#waiting = this.#waiting.filter(({ end }) => end > sent);
    if (input.length === 0 && over.length === 0) return;
    this.#stream.write(asTmuxKeys(input), (error) => {
      if (!error) for (const { done } of over) done();
    });
  }
}
