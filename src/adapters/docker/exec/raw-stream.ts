import { Duplex } from 'node:stream';
import { frameReader } from './stream-demux.ts';

/** A stream of frames, as the engine has without a terminal of its own, as plain bytes both ways. Not reading stops the program. */
export function unframed(source: Duplex): Duplex {
  const framesOf = frameReader();
  const plain = new Duplex({
    // The end of the program is the end of both, once all its output is read.
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
  // What comes after an error is `close`, which every reader handles.
  plain.on('error', () => {});
  source.pause();
  return plain;
}
