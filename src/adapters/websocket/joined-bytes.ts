/** Smaller pieces are copied into a block; each on its own would cost hundreds of bytes. */
const SMALL_BYTES = 4_096;
const BLOCK_BYTES = 16_384;

/** Bytes that wait, in order. However small its pieces were, it takes little more memory than its bytes. */
export class JoinedBytes {
  #pieces: Buffer[] = [];
  #block: Buffer | null = null;
  #blockBytes = 0;

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    if (piece.length >= SMALL_BYTES) {
      this.#closeBlock();
      this.#pieces.push(piece);
      return;
    }
    if (this.#blockBytes + piece.length > BLOCK_BYTES) this.#closeBlock();
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#blockBytes += piece.copy(this.#block, this.#blockBytes);
  }

  /** Takes the first bytes, as many as were joined; null for none. */
  next(): Buffer | null {
    if (this.#pieces.length === 0) this.#closeBlock();
    return this.#pieces.shift() ?? null;
  }

  #closeBlock(): void {
    const block = this.#block;
    if (block === null) return;
    const isFull = this.#blockBytes > BLOCK_BYTES - SMALL_BYTES;
    const bytes = block.subarray(0, this.#blockBytes);
    this.#pieces.push(isFull ? bytes : Buffer.from(bytes));
    this.#block = null;
    this.#blockBytes = 0;
  }
}
