import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { EngineCalls } from '../engine/engine-client.ts';

/** The engine discards output not read within 2 s of a program's end. */
const POLL_EVERY_MS = 400;
const ANSWER_SECONDS = 0.3;
/** More than engine and kernel buffer of an ended program. */
const MAX_TAIL_BYTES = 8 * 1024 * 1024;

/**
 * Reads an exec's output on demand, so that a slow consumer slows the program. After the program's end the rest is read
 * at once: the engine would not wait for it, and would block other programs of the container meanwhile.
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

/** An engine busy with a program's end does not answer about it, which counts too. */
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
  const poll = async (): Promise<void> => {
    if (!(await hasEnded()) || timer === null) {
      if (timer !== null) timer = setTimeout(() => void poll(), POLL_EVERY_MS);
      return;
    }
    source.on('readable', take);
    take();
  };
  let timer: NodeJS.Timeout | null = setTimeout(() => void poll(), POLL_EVERY_MS);
  return {
    next: () => taken.shift(),
    stop: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      source.off('readable', take);
    },
  };
}
