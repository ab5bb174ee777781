import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { EngineCalls } from '../engine/engine-client.ts';

/** The engine gives a reader 2 s from the end of a program; what it has not read then is thrown away. */
const LOOK_EVERY_MS = 400;
const ANSWER_SECONDS = 0.3;
/** More than the engine and the kernel hold back of a program that has ended. */
const MAX_TAIL_BYTES = 8 * 1024 * 1024;

/**
 * Reads the output of an exec as its consumer asks for it, so that a slow one slows the program. Once the
 * program has ended the rest is taken in at once, however slow the consumer: the engine would not wait for it,
 * and would keep other programs of the container waiting meanwhile.
 */
export async function* drainAfterExit(
  source: Readable,
  hasEnded: () => Promise<boolean>,
): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    const tail = takeTail(source, hasEnded);
    try {
      yield chunk;
      for (let next = tail.next(); next !== undefined; next = tail.next()) yield next;
    } finally {
      tail.stop();
    }
  }
}

/** An engine that is busy with the end of a program does not answer for it: that counts as well. */
export const hasExited = (calls: EngineCalls, exec: Docker.Exec) => (): Promise<boolean> =>
  calls
    .read(ANSWER_SECONDS, (abortSignal) => exec.inspect({ abortSignal }))
    .then(({ Running }) => !Running)
    .catch(() => true);

function takeTail(
  source: Readable,
  hasEnded: () => Promise<boolean>,
): { next(): Buffer | undefined; stop(): void } {
  const taken: Buffer[] = [];
  let left = MAX_TAIL_BYTES;
  const take = (): void => {
    while (left > 0) {
      const chunk = source.read() as Buffer | null;
      if (chunk === null) return;
      left -= chunk.length;
      taken.push(chunk);
    }
  };
  const look = async (): Promise<void> => {
    if (!(await hasEnded()) || timer === null) {
      if (timer !== null) timer = setTimeout(() => void look(), LOOK_EVERY_MS);
      return;
    }
    source.on('readable', take);
    take();
  };
  let timer: NodeJS.Timeout | null = setTimeout(() => void look(), LOOK_EVERY_MS);
  return {
    next: () => taken.shift(),
    stop: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      source.off('readable', take);
    },
  };
}
