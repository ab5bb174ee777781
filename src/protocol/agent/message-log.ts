import { MESSAGE_OVERHEAD_BYTES, MOST_UNACKNOWLEDGED_BYTES, UNACKNOWLEDGED_BYTES } from './limits.ts';

/** Numbered messages until the other side has acknowledged them, to be sent again on a new connection. */
export class MessageLog {
  #messages: Uint8Array[] = [];
  /** The number of the first one kept. */
  #first = 0;
  /** Dropped at the front of `#messages`, which is cut in steps. */
  #dropped = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** While full, only credit and resets are added. */
  get isFull(): boolean {
    return this.#bytes >= UNACKNOWLEDGED_BYTES;
  }

  /** The other side keeps sending, but acknowledges nothing. */
  get isOverfull(): boolean {
    return this.#bytes > MOST_UNACKNOWLEDGED_BYTES;
  }

  add(message: Uint8Array): void {
    this.#messages.push(message);
    this.#bytes += message.length + MESSAGE_OVERHEAD_BYTES;
  }

  /** undefined for one that is dropped or not yet there. */
  get(sequence: number): Uint8Array | undefined {
    return sequence < this.#first ? undefined : this.#messages[sequence - this.#first + this.#dropped];
  }

  /** Drops all before this number. */
  dropBefore(sequence: number): void {
    for (; this.#first < sequence; this.#first++) {
      const message = this.#messages[this.#dropped];
      if (message === undefined) return;
      this.#bytes -= message.length + MESSAGE_OVERHEAD_BYTES;
      this.#messages[this.#dropped++] = EMPTY;
    }
    if (this.#dropped * 2 < this.#messages.length) return;
    this.#messages = this.#messages.slice(this.#dropped);
    this.#dropped = 0;
  }
}

const EMPTY = new Uint8Array();
