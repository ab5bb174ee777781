export type Frame = { readonly stream: 'stdout' | 'stderr'; readonly data: Buffer };

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes the engine's two-in-one stream apart as it comes. Not asking for the next frame stops the reading, and
 * in the end the program. Throws when the connection breaks.
 */
export async function* frames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let header: Buffer = Buffer.alloc(0);
  let stream: Frame['stream'] = 'stdout';
  let left = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const data = chunk.subarray(at, at + left);
        left -= data.length;
        at += data.length;
        yield { stream, data };
        continue;
      }
      const missing = chunk.subarray(at, at + HEADER_BYTES - header.length);
      at += missing.length;
      header = Buffer.concat([header, missing]);
      if (header.length < HEADER_BYTES) continue;
      stream = header[0] === STDERR ? 'stderr' : 'stdout';
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  }
}
