import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { EngineCalls } from '../engine/engine-client.ts';

/** The engine discards output not read within 2 s of a program's end. */
const POLL_EVERY_MS = 400;
/** For a paused stream, whose reader may be away for minutes. */
const POLL_PAUSED_MS = 800;
const ANSWER_SECONDS = 0.3;
/** More than engine and kernel buffer of an ended program. */
const MAX_TAIL_BYTES = 8 * 1024 * 1024;
/** The engine's own buffers, about 100 KiB, fit into it. Its sent output is in the kernel, which discards nothing. */
const MAX_PAUSED_TAIL_BYTES = 262_144;

/** Whether the program has ended; null when the engine does not answer, as while it is busy with the end. */
type HasEnded = () => Promise<boolean | null>;

/**
 * Reads an exec's output on demand, so that a slow consumer slows the program. After the program's end the rest is read
 * at once: the engine would not wait for it, and would block other programs of the container meanwhile.
 */
export async function* drainAfterExit(source: Readable, hasEnded: HasEnded): AsyncGenerator<Buffer> {
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

/**
 * Lets a paused stream take in what its program has left when it ends. Its reader sees nothing of that before it
 * resumes, and the engine still slows a program that runs.
 */
export function keepTail(source: Readable, hasEnded: HasEnded): void {
  let pauses = 0;
  let isWatching = false;
  const watch = (): void => {
    if (isWatching) return;
    isWatching = true;
    setTimeout(check, POLL_PAUSED_MS, pauses).unref();
  };
  const check = async (seen: number): Promise<void> => {
    isWatching = false;
    if (source.destroyed || !source.isPaused()) return;
    // Busy terminals pause often, and only for a moment.
    if (seen !== pauses) return watch();
    const ended = await hasEnded();
    if (ended !== true) watch();
    if (!source.isPaused()) return;
    buffersUpTo(source, ended === false ? 1 : MAX_PAUSED_TAIL_BYTES);
    if (ended !== false) source.read(0);
  };
  source.on('pause', () => {
    pauses += 1;
    watch();
  });
  source.on('resume', () => buffersUpTo(source, 1));
}

/** How much a paused stream reads ahead. A runtime without this field reads its usual 64 KiB. */
export function buffersUpTo(source: Readable, bytes: number): void {
  const { _readableState: state } = source as unknown as { _readableState?: { highWaterMark?: number } };
  if (state !== undefined) state.highWaterMark = bytes;
}

export const hasExited =
  (calls: EngineCalls, exec: Docker.Exec): HasEnded =>
  () =>
    calls
      .read(ANSWER_SECONDS, (abortSignal) => exec.inspect({ abortSignal }))
      .then(({ Running }) => !Running)
      .catch(() => null);

function takeTail(source: Readable, hasEnded: HasEnded): { next(): Buffer | undefined; stop(): void } {
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
    // A program that may have ended counts too.
    if ((await hasEnded()) === false || timer === null) {
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
