import { Queue } from './queue.ts';

/** More than this that is not taken makes the source wait. */
const MAX_WAITING_BYTES = 1024 * 1024;
const TAKE_AGAIN_BYTES = 256 * 1024;

export type FlowSource = {
  /** Send no more, until `take`. */
  hold(): void;
  /** Also called when it does not wait. */
  take(): void;
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
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#source.hold();
  }

  /** What was taken too much comes first again. */
  putBack(rest: T): void {
    const bytes = this.#sizeOf(rest);
    if (bytes === 0) return;
    this.#waitingBytes += bytes;
    this.loop.putBack(rest);
  }

  #took(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes < TAKE_AGAIN_BYTES) this.#source.take();
  }
}
