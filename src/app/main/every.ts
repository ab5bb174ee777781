import type { Logger } from '../../ports/logger.ts';

/** Does the work again and again, `everyMs` after the last time ended. A fault is logged and ends nothing. */
export function every(everyMs: number, work: () => Promise<void>, log: Logger): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let timer = setTimeout(again, everyMs);
  let stopped = false;

  function again(): void {
    last = work()
      .catch((err: unknown) => log.warn({ err }, 'what was due could not be written'))
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
