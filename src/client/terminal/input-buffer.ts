/** Largest piece of input sent as one frame. */
export const MAX_PIECE_BYTES = 16 * 1024;
/** Input that was sent but not acknowledged, at most. */
export const MAX_IN_FLIGHT_BYTES = 1024 * 1024;

export type Bytes = Uint8Array<ArrayBuffer>;

type Piece = { readonly start: number; readonly bytes: Bytes };

/** Every byte of UTF-8 begins a character but those of the form 10xxxxxx. */
const charactersIn = (bytes: Bytes): number => bytes.filter((byte) => (byte & 0xc0) !== 0x80).length;

const endOf = (piece: Piece): number => piece.start + piece.bytes.length;

/** Input as a byte stream with offsets: kept until acknowledged, so that a lost line can be made good. */
export type InputBuffer = {
  push(bytes: Uint8Array): void;
  /** The next piece to send, or null when there is none or enough is in flight. */
  next(): Bytes | null;
  /** The service has all input before `offset`. */
  acknowledge(offset: number): void;
  /**
   * The line was lost and the service has all input before `offset`: the rest is sent again. An offset below what was
   * acknowledged begins a new count: the rest is numbered from it. So does one beyond what was sent, which is another
   * client's, or wrong: the result is then how many bytes were sent and are not sent again, because they may have
   * arrived. Otherwise null.
   */
  rewind(offset: number): number | null;
  /**
   * Another stream, whose input starts at `offset`. What was acknowledged is dropped, and with `keep` the rest is sent
   * on the new stream; without it all input of the old one is dropped.
   */
  restart(offset: number, keep: boolean): void;
  /** Input from `offset` on that another connection of this stream may have sent. Replaces all. */
  adopt(offset: number, bytes: Uint8Array): void;
  /** The input that may not have arrived, and its offset. */
  pending(): { readonly offset: number; readonly bytes: Bytes };
  /** Bytes pushed and not known to have arrived. */
  pendingBytes(): number;
  /** The same in characters of UTF-8. */
  pendingCharacters(): number;
};

/** Pieces of input, numbered without a gap. */
function pieceQueue() {
  let pieces: Piece[] = [];
  let end = 0;
  const startOf = (index: number): number => pieces[index]?.start ?? end;
  const add = (bytes: Bytes): void => {
    pieces.push({ start: end, bytes });
    end += bytes.length;
  };
  return {
    at: (index: number): Piece | undefined => pieces[index],
    startOf,
    end: (): number => end,
    push(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) add(bytes.slice(at, at + MAX_PIECE_BYTES));
    },
    /** Removes the pieces that end before `offset`; returns their number. */
    dropBefore(offset: number): number {
      const kept = pieces.findIndex((piece) => endOf(piece) > offset);
      return pieces.splice(0, kept === -1 ? pieces.length : kept).length;
    },
    /** Cuts what is before `offset` off the first piece. */
    cutBefore(offset: number): void {
      const first = pieces[0];
      if (first !== undefined && first.start < offset)
        pieces[0] = { start: offset, bytes: first.bytes.slice(offset - first.start) };
    },
    /** Renumbers the input after `from`, starting at `offset`; null keeps none. */
    renumber(offset: number, from: number | null): void {
      const kept =
        from === null ? [] : pieces.map(({ start, bytes }) => bytes.slice(Math.max(0, from - start)));
      pieces = [];
      end = offset;
      for (const bytes of kept) add(bytes);
    },
    bytes(): Bytes {
      const all = new Uint8Array(end - startOf(0));
      for (const { start, bytes } of pieces) all.set(bytes, start - startOf(0));
      return all;
    },
    characters: (): number => pieces.reduce((sum, { bytes }) => sum + charactersIn(bytes), 0),
  };
}

export function inputBuffer(maxInFlightBytes: number = MAX_IN_FLIGHT_BYTES): InputBuffer {
  const pieces = pieceQueue();
  let unsent = 0;
  let acknowledged = 0;
  /** Everything before it was sent, on some line. */
  let sent = 0;

  const dropBefore = (offset: number): void => {
    acknowledged = Math.max(acknowledged, offset);
    unsent = Math.max(0, unsent - pieces.dropBefore(offset));
  };

  const restart = (offset: number, keep: boolean): void => {
    pieces.renumber(offset, keep ? acknowledged : null);
    unsent = 0;
    acknowledged = offset;
    sent = offset;
  };

  return {
    push: pieces.push,
    next() {
      const piece = pieces.at(unsent);
      const inFlightBytes = pieces.startOf(unsent) - pieces.startOf(0);
      if (piece === undefined || inFlightBytes >= maxInFlightBytes) return null;
      unsent += 1;
      sent = Math.max(sent, endOf(piece));
      return piece.bytes;
    },
    acknowledge: (offset) => dropBefore(Math.min(offset, sent)),
    rewind(offset) {
      if (offset < acknowledged) {
        restart(offset, true);
        return null;
      }
      if (offset > sent) {
        const doubtful = sent - pieces.startOf(0);
        dropBefore(sent);
        restart(offset, true);
        return doubtful;
      }
      dropBefore(offset);
      pieces.cutBefore(offset);
      unsent = 0;
      return null;
    },
    restart,
    adopt(offset, bytes) {
      restart(offset, false);
      pieces.push(bytes);
      sent = pieces.end();
    },
    pending: () => ({ offset: pieces.startOf(0), bytes: pieces.bytes() }),
    pendingBytes: () => pieces.end() - pieces.startOf(0),
    pendingCharacters: pieces.characters,
  };
}
