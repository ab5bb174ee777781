import type { ProgramOutput } from '../../../ports/containers/inside/container-programs.ts';

/** A read of this size tells the reader that more is waiting, as one from a socket does. */
const PIECE_BYTES = 65_536;

/**
 * Output that waits for its reader. An exec sends a message for every few KiB that a program writes; one larger piece
 * costs the reader much less.
 */
export class OutputQueue {
  readonly #pieces: ProgramOutput[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: ProgramOutput): void {
    this.#pieces.push(piece);
    this.#bytes += piece.data.length;
  }

  /** The oldest output, of one of the two streams, at most 64 KiB; null for none. */
  take(): ProgramOutput | null {
    const [first] = this.#pieces;
    if (first === undefined) return null;
    const data: Buffer[] = [];
    let room = PIECE_BYTES;
    for (let next = this.#pieces[0]; next?.stream === first.stream && room > 0; next = this.#pieces[0]) {
      const part = next.data.subarray(0, room);
      data.push(part);
      room -= part.length;
      if (part.length === next.data.length) this.#pieces.shift();
      else this.#pieces[0] = { stream: next.stream, data: next.data.subarray(part.length) };
    }
    this.#bytes -= PIECE_BYTES - room;
    return { stream: first.stream, data: data.length === 1 ? (data[0] as Buffer) : Buffer.concat(data) };
  }
}
