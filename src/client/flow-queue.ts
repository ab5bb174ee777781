import { Queue } from './queue.ts';

/** When more than this waits for the loop, the source is paused. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** When less than this waits, the source is resumed. */
const TAKE_AGAIN_BYTES = 256 * 1024;

export type FlowSource = {
  /** Sends no more until `resume`. */
  pause(): void;
  /** Also called when the source is not paused. */
  resume(): void;
  /** The loop was left. */
  left(): void;
};

/** Output for one `for await`, whose source waits for a slow loop. */
export class FlowQueue<T> {
  readonly loop: Queue<T>;
  readonly #sizeOf: (value: T) => number;
  readonly #source: FlowSource;
  #waitingBytes = 0;

  constructor(sizeOf: (value: T) => number, source: FlowSource) {
    this.#sizeOf = sizeOf;
    this.#source = source;
    this.loop = new Queue(
      (value) => this.#took(sizeOf(value)),
      () => source.left(),
    );
  }

  push(value: T): void {
    this.#waitingBytes += this.#sizeOf(value);
    this.loop.push(value);
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#source.pause();
  }

  /** Puts the unused rest of a taken value back: it comes first again. */
  putBack(rest: T): void {
    const bytes = this.#sizeOf(rest);
    if (bytes === 0) return;
    this.#waitingBytes += bytes;
    this.loop.putBack(rest);
  }

  #took(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes < TAKE_AGAIN_BYTES) this.#source.resume();
  }
}
