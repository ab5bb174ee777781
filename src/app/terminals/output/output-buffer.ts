/** The newest output of a terminal, by offset. */
export type OutputBuffer = {
  append(chunk: Buffer): void;
  start(): number;
  /** The count of all bytes so far. */
  end(): number;
  range(from: number, to: number): Buffer;
  /** What follows `offset`, in one piece of at most `maxBytes`; empty at the end. Must not be changed. */
  read(offset: number, maxBytes: number): Buffer;
};

type Piece = { readonly at: number; readonly block: Buffer; length: number; readonly own: boolean };

/** Chunks of at least this size are kept as they are; smaller ones are joined, since each costs as much as a block. */
const WHOLE_BYTES = 4_096;
const FIRST_BLOCK_BYTES = 1_024;
const MAX_BLOCK_BYTES = 65_536;

/** What follows `offset` in its piece, at most `maxBytes`. Readers are near the end. */
function bytesAt(pieces: readonly Piece[], offset: number, maxBytes: number): Buffer {
  const piece = pieces.findLast(({ at, length }) => at <= offset && offset < at + length);
  if (piece === undefined) return Buffer.alloc(0);
  const from = offset - piece.at;
  return piece.block.subarray(from, Math.min(piece.length, from + maxBytes));
}

/**
 * Keeps at least the last `keepBytes` and reports what it drops. Memory follows content: an idle terminal costs
 * nothing.
 */
export function outputBuffer(
  keepBytes: number,
  forgets: (bytes: Buffer, at: number) => void = () => {},
): OutputBuffer {
  const pieces: Piece[] = [];
  let end = 0;

  const gather = (chunk: Buffer): void => {
    let tail = pieces.at(-1);
    if (tail === undefined || !tail.own || tail.length === tail.block.length) {
      const bytes = tail?.own ? Math.min(MAX_BLOCK_BYTES, tail.block.length * 2) : FIRST_BLOCK_BYTES;
      tail = { at: end, block: Buffer.allocUnsafeSlow(bytes), length: 0, own: true };
      pieces.push(tail);
    }
    const taken = chunk.copy(tail.block, tail.length);
    tail.length += taken;
    end += taken;
    if (taken < chunk.length) gather(chunk.subarray(taken));
  };

  const trim = (): void => {
    for (let next = pieces[1]; next !== undefined && end - next.at >= keepBytes; next = pieces[1]) {
      const oldest = pieces.shift();
      if (oldest !== undefined) forgets(oldest.block.subarray(0, oldest.length), oldest.at);
    }
  };

  const read = (offset: number, maxBytes: number): Buffer => bytesAt(pieces, offset, maxBytes);

  return {
    append(chunk) {
      if (chunk.length < WHOLE_BYTES) gather(chunk);
      else {
        pieces.push({ at: end, block: chunk, length: chunk.length, own: false });
        end += chunk.length;
      }
      trim();
    },
    start: () => pieces[0]?.at ?? end,
    end: () => end,
    range(from, to) {
      const chunks: Buffer[] = [];
      let at = from;
      for (let piece = read(at, to - at); piece.length > 0; piece = read(at, to - at)) {
        chunks.push(piece);
        at += piece.length;
      }
      return Buffer.concat(chunks);
    },
    read,
  };
}
