import { Readable } from 'node:stream';

/**
 * What the generator yields, as a stream. Its destruction begins with `end`: a generator that waits for more
 * would never notice otherwise.
 */
export function readableOf(bytes: AsyncGenerator<Buffer>, end: () => void): Readable {
  const readable = Readable.from(bytes, { objectMode: false });
  const destroy = readable._destroy.bind(readable);
  readable._destroy = (error, done) => {
    end();
    destroy(error, done);
  };
  return readable;
}
