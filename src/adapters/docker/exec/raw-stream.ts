import { Duplex } from 'node:stream';
import { frameReader } from './stream-demux.ts';

/** The engine's framed stream, used without a terminal, as plain bytes both ways. Not reading pauses the program. */
export function unframed(source: Duplex): Duplex {
  const framesOf = frameReader();
  const plain = new Duplex({
    // The program's end closes both directions once its output is read.
    allowHalfOpen: false,
    read: () => void source.resume(),
    write: (chunk, encoding, done) => void source.write(chunk, encoding, done),
    final: (done) => {
      source.end();
      done();
    },
    destroy: (error, done) => {
      source.destroy();
      done(error);
    },
  });
  source.on('data', (chunk: Buffer) => {
    const taken = [...framesOf(chunk)].map(({ data }) => plain.push(data));
    if (taken.includes(false)) source.pause();
  });
  source.once('end', () => plain.push(null));
  source.once('close', () => {
    if (!source.readableEnded) plain.destroy();
  });
  // an error is followed by `close`, which every reader handles
  plain.on('error', () => {});
  source.pause();
  return plain;
}
