/** Reads a byte stream in chosen pieces, on demand. */
export type Blocks = {
  /** Exactly that many bytes, or null when the stream ends before. */
  take(bytes: number): Promise<Buffer | null>;
  /** That many bytes as they come. Throws when the stream ends before. */
  pass(bytes: number): AsyncGenerator<Buffer>;
};

export function blocks(source: AsyncIterable<Buffer>): Blocks {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const { done, value } = await chunks.next();
    if (done === true) return false;
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    return true;
  };
  return {
    async take(bytes) {
      while (rest.length < bytes) if (!(await more())) return null;
      const taken = rest.subarray(0, bytes);
      rest = rest.subarray(bytes);
      return taken;
    },
    async *pass(bytes) {
      for (let left = bytes; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw new Error('the stream ended too early');
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
  };
}
