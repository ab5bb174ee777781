export type Frame = { readonly stream: 'stdout' | 'stderr'; readonly data: Buffer };

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Splits the engine's multiplexed stream into frames, in a loop, because a program decides how many frames a chunk has:
 * single bytes make thousands.
 */
export function frameReader(): (chunk: Buffer) => Generator<Frame> {
  const header = Buffer.alloc(HEADER_BYTES);
  let known = 0;
  let left = 0;
  return function* (chunk) {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const data = chunk.subarray(at, at + left);
        left -= data.length;
        at += data.length;
        yield { stream: header[0] === STDERR ? 'stderr' : 'stdout', data };
        continue;
      }
      const copied = chunk.copy(header, known, at, at + HEADER_BYTES - known);
      at += copied;
      known = (known + copied) % HEADER_BYTES;
      if (known === 0) left = header.readUInt32BE(4);
    }
  };
}

/** The output of a terminal, which is not framed. */
export async function* unframedOutput(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  for await (const data of source) yield { stream: 'stdout', data };
}

/**
 * The frames of a stream. Not requesting the next one pauses the reading and finally the program. Throws when the
 * connection breaks.
 */
export async function* frames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  const framesOf = frameReader();
  for await (const chunk of source) for (const frame of framesOf(chunk)) yield frame;
}
