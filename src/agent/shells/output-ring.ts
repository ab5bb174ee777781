const FIRST_BYTES = 16_384;

/** The newest output of a shell, by offset: at least the last `keepBytes`, once there is as much. */
export class OutputRing {
  #ring: Buffer;
  readonly #keepBytes: number;
  #end = 0;

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
    this.#ring = Buffer.alloc(Math.min(FIRST_BYTES, keepBytes));
  }

  /** Count of all bytes so far. */
  get end(): number {
    return this.#end;
  }

  /** The oldest kept byte. */
  get start(): number {
    return Math.max(0, this.#end - this.#ring.length);
  }

  append(bytes: Uint8Array): void {
    this.#grow(this.#end + bytes.length);
    // more than the ring holds: its beginning would be overwritten at once
    const from = Math.max(0, bytes.length - this.#ring.length);
    for (let at = from; at < bytes.length; ) {
      const into = (this.#end + at) % this.#ring.length;
      const piece = bytes.subarray(at, at + this.#ring.length - into);
      this.#ring.set(piece, into);
      at += piece.length;
    }
    this.#end += bytes.length;
  }

  /** A copy of what follows `offset`, at most `maxBytes`, up to the end of the ring. Empty at the end. */
  read(offset: number, maxBytes: number): Buffer {
    const from = offset % this.#ring.length;
    const bytes = Math.min(maxBytes, this.#end - offset, this.#ring.length - from);
    return Buffer.from(this.#ring.subarray(from, from + bytes));
  }

  /** Memory follows content. */
  #grow(bytes: number): void {
    const size = Math.min(this.#keepBytes, 2 ** Math.ceil(Math.log2(Math.max(bytes, FIRST_BYTES))));
    if (size <= this.#ring.length) return;
    const grown = Buffer.alloc(size);
    // nothing has been dropped yet: the content is at the beginning
    grown.set(this.#ring.subarray(0, this.#end));
    this.#ring = grown;
  }
}
