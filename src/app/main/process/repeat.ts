import type { Logger } from '../../../ports/logger.ts';

/**
 * Does the work again and again, `everyMs` after the last time ended, and first in `firstMs`. A fault is logged and ends
 * nothing.
 */
export function every(
  everyMs: number,
  work: () => Promise<void>,
  log: Logger,
  firstMs = everyMs,
): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let timer = setTimeout(again, firstMs);
  let stopped = false;

  function again(): void {
    last = work()
      .catch((err: unknown) => log.warn({ err }, 'a repeated task failed'))
      .then(() => {
        if (!stopped) timer = setTimeout(again, everyMs);
      });
  }
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await last;
  };
}
