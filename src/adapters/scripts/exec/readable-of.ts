import { Readable } from 'node:stream';

/** The generator as a stream. Destroying it calls `end` first, since a waiting generator would not notice. */
export function readableOf(bytes: AsyncGenerator<Buffer>, end: () => void): Readable {
  const readable = Readable.from(bytes, { objectMode: false });
  const destroy = readable._destroy.bind(readable);
  readable._destroy = (error, done) => {
    end();
    destroy(error, done);
  };
  return readable;
}
