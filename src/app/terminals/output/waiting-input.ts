import { EventEmitter } from 'node:events';

/**
 * Input waiting for the program, at which its sender must wait too: more than a client may have unacknowledged, so that
 * its pongs, which let output continue, are not delayed behind its input.
 */
const MAX_BYTES = 2_097_152;
const FREE_BYTES = MAX_BYTES / 2;
/** What each piece takes besides its content: empty ones too. */
const PIECE_BYTES = 128;

/** Measures the input that a terminal has not taken yet. Emits `free` when its sender may go on. */
export class WaitingInput extends EventEmitter {
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes >= MAX_BYTES;
  }

  /** Call the result when the terminal has this input. */
  add(bytes: number): () => void {
    const counted = bytes + PIECE_BYTES;
    this.#bytes += counted;
    return () => {
      this.#bytes -= counted;
      if (this.#bytes <= FREE_BYTES) this.emit('free');
    };
  }
}
