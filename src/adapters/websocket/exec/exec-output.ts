import type { ExecStream } from '../../../protocol/exec-frames.ts';

/** How much output may be unconfirmed, so that it can be sent again. */
export const KEPT_BYTES = 1_048_576;
const PIECE_BYTES = 65_536;

export type OutputPiece = { readonly stream: ExecStream; readonly data: Buffer };

/** Output of a command, from the first byte that its client may lack. Offsets count the bytes of both streams. */
export class ExecOutput {
  readonly #isKept: boolean;
  #pieces: OutputPiece[] = [];
  /** How many of the pieces were sent. */
  #sent = 0;
  /** Offset of the first piece. */
  #start = 0;
  /** Offset of what is sent next. */
  #next = 0;
  /** Offset up to which the client has room. */
  #limit = 0;

  /** `isKept`: sent output is kept until it is confirmed. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  get isSent(): boolean {
    return this.#sent === this.#pieces.length;
  }

  add(stream: ExecStream, data: Buffer): void {
    for (let at = 0; at < data.length; at += PIECE_BYTES)
      this.#pieces.push({ stream, data: data.subarray(at, at + PIECE_BYTES) });
  }

  /** The client has room for so many bytes more. */
  allow(bytes: number): void {
    this.#limit += bytes;
  }

  /** What to send next; null when there is nothing, or no room for it. */
  take(): OutputPiece | null {
    const kept = this.#isKept ? this.#start + KEPT_BYTES : Number.POSITIVE_INFINITY;
    const room = Math.min(this.#limit, kept) - this.#next;
    if (this.isSent || room <= 0) return null;
    this.#split(this.#sent, room);
    const piece = this.#pieces[this.#sent] as OutputPiece;
    this.#sent += 1;
    this.#next += piece.data.length;
    if (!this.#isKept) this.confirm(this.#next);
    return piece;
  }

  /** The client has all output before `offset`. */
  confirm(offset: number): void {
    for (let [first] = this.#pieces; this.#sent > 0 && first !== undefined; [first] = this.#pieces) {
      if (this.#start + first.data.length > offset) return;
      this.#pieces.shift();
      this.#sent -= 1;
      this.#start += first.data.length;
    }
  }

  /** Continues at `offset`, without room; false when that was never sent, or is no longer kept. */
  resumeAt(offset: number): boolean {
    if (offset < this.#start || offset > this.#next) return false;
    this.confirm(offset);
    if (offset > this.#start) {
      this.#split(0, offset - this.#start);
      this.confirm(offset);
    }
    this.#sent = 0;
    this.#next = offset;
    this.#limit = offset;
    return true;
  }

  /** Makes two pieces of a longer one. */
  #split(index: number, bytes: number): void {
    const piece = this.#pieces[index];
    if (piece === undefined || piece.data.length <= bytes) return;
    const { stream, data } = piece;
    const parts = [data.subarray(0, bytes), data.subarray(bytes)].map((part) => ({ stream, data: part }));
    this.#pieces.splice(index, 1, ...parts);
    if (index < this.#sent) this.#sent += 1;
  }
}
