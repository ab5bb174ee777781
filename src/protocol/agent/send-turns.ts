/** Frames of channels that were idle before one of a busy channel is sent. */
const IDLE_FIRST = 8;

/**
 * Whose turn it is to send. Channels that have been idle come first, for one frame: a keystroke does not wait for the
 * floods of others. Busy ones take turns.
 */
export class SendTurns<T> {
  readonly #idle = new Set<T>();
  readonly #busy = new Set<T>();
  #idleInRow = 0;

  /** It has something to send. */
  add(one: T): void {
    if (!this.#busy.has(one)) this.#idle.add(one);
  }

  /** It has sent a frame, and has another. */
  addBusy(one: T): void {
    this.#busy.add(one);
  }

  delete(one: T): void {
    this.#idle.delete(one);
    this.#busy.delete(one);
  }

  /** Takes the next one out. undefined when none waits. */
  take(): T | undefined {
    const isIdlesTurn = this.#busy.size === 0 || this.#idleInRow < IDLE_FIRST;
    const [next] = this.#idle.size > 0 && isIdlesTurn ? this.#idle : this.#busy;
    if (next === undefined) return undefined;
    this.#idleInRow = this.#idle.has(next) ? this.#idleInRow + 1 : 0;
    this.delete(next);
    return next;
  }
}
