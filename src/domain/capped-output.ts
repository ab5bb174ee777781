const FIRST_BYTES = 4096;

/**
 * Keeps the first `maxBytes` and drops the rest, so that the program never blocks. Copies what it keeps: a one-byte
 * frame would otherwise retain its whole chunk.
 */
export class CappedOutput {
  #maxBytes: number;
  #buffer = Buffer.alloc(0);
  #length = 0;
  isCut = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(data: Buffer): void {
    const size = Math.min(data.length, this.#maxBytes - this.#length);
    if (size < data.length) this.isCut = true;
    if (size === 0) return;
    if (this.#length + size > this.#buffer.length) this.#grow(this.#length + size);
    data.copy(this.#buffer, this.#length, 0, size);
    this.#length += size;
  }

  /** Drops what it has and keeps nothing further. */
  drop(): void {
    this.#maxBytes = 0;
    this.#length = 0;
    this.#buffer = Buffer.alloc(0);
    this.isCut = true;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(
      Math.min(this.#maxBytes, Math.max(needed, this.#buffer.length * 2, FIRST_BYTES)),
    );
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
