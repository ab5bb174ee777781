import type { ExecStream } from '../../../protocol/exec-frames.ts';

/** How much output may be unconfirmed, so that it can be sent again. */
export const KEPT_BYTES = 1_048_576;
const BLOCK_BYTES = 65_536;

const MARKS = { stdout: 1, stderr: 2 } as const satisfies Record<ExecStream, number>;

export type OutputPiece = { readonly stream: ExecStream; readonly data: Buffer };

/** Bytes of both streams in their order, and the stream of each. */
type Block = { readonly bytes: Buffer; readonly marks: Buffer };

/**
 * Output of a command, from the first byte that its client may lack. Offsets count the bytes of both streams. However
 * small the pieces were, it takes about two bytes of memory for each byte.
 */
export class ExecOutput {
  readonly #isKept: boolean;
  #blocks: Block[] = [];
  /** Offset of the first block. */
  #blocksStart = 0;
  /** Offset up to which the client has it. */
  #confirmed = 0;
  /** Offset of what is sent next. */
  #next = 0;
  /** Offset of what is added next. */
  #end = 0;
  /** Offset up to which the client has room. */
  #limit = 0;

  /** `isKept`: sent output is kept until it is confirmed. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  get isSent(): boolean {
    return this.#next === this.#end;
  }

  add(stream: ExecStream, data: Buffer): void {
    for (let taken = 0; taken < data.length; ) {
      const at = (this.#end - this.#blocksStart) % BLOCK_BYTES;
      if (this.#end - this.#blocksStart === this.#blocks.length * BLOCK_BYTES) this.#blocks.push(aBlock());
      const { bytes, marks } = this.#blockAt(this.#end);
      const copied = data.copy(bytes, at, taken);
      marks.fill(MARKS[stream], at, at + copied);
      taken += copied;
      this.#end += copied;
    }
  }

  /** The client has room for so many bytes more. */
  allow(bytes: number): void {
    this.#limit += bytes;
  }

  /** What to send next; null when there is nothing, or no room for it. */
  take(): OutputPiece | null {
    const kept = this.#isKept ? this.#confirmed + KEPT_BYTES : Number.POSITIVE_INFINITY;
    const room = Math.min(this.#limit, kept, this.#end) - this.#next;
    if (room <= 0) return null;
    const { bytes, marks } = this.#blockAt(this.#next);
    const from = (this.#next - this.#blocksStart) % BLOCK_BYTES;
    const stream = marks[from] === MARKS.stderr ? 'stderr' : 'stdout';
    const most = marks.subarray(from, from + room);
    const other = most.indexOf(stream === 'stdout' ? MARKS.stderr : MARKS.stdout);
    const data = bytes.subarray(from, from + (other === -1 ? most.length : other));
    this.#next += data.length;
    if (!this.#isKept) this.confirm(this.#next);
    return { stream, data };
  }

  /** The client has all output before `offset`. */
  confirm(offset: number): void {
    this.#confirmed = Math.max(this.#confirmed, Math.min(offset, this.#next));
    const count = Math.floor((this.#confirmed - this.#blocksStart) / BLOCK_BYTES);
    this.#blocks.splice(0, count);
    this.#blocksStart += count * BLOCK_BYTES;
  }

  /** Continues at `offset`, without room; false when that was never sent, or is no longer kept. */
  resumeAt(offset: number): boolean {
    if (offset < this.#confirmed || offset > this.#next) return false;
    this.confirm(offset);
    this.#next = offset;
    this.#limit = offset;
    return true;
  }

  #blockAt(offset: number): Block {
    return this.#blocks[Math.floor((offset - this.#blocksStart) / BLOCK_BYTES)] as Block;
  }
}

const aBlock = (): Block => ({
  bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES),
  // Zero is no stream's mark, so an unwritten byte belongs to none.
  marks: Buffer.alloc(BLOCK_BYTES),
});
