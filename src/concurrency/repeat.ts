type Log = {
  warn(fields: object, message: string): void;
  /** Faults are over. */
  over?(message: string): void;
};

/** Work of a timer; `idle` resolves when what a run has left in the background has ended. */
export type Pass = (() => Promise<void>) & { readonly idle?: () => Promise<void> };

/** Repeats the work until it is stopped: first after `firstMs`, then `everyMs` after each end. A fault is logged. */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  log: Log,
  firstMs = everyMs,
): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let timer = setTimeout(run, firstMs);
  let isStopped = false;

  function run(): void {
    last = work()
      .then(() => log.over?.('a repeated task works again'))
      .catch((err: unknown) => log.warn({ err }, 'a repeated task failed'))
      .then(() => {
        if (!isStopped) timer = setTimeout(run, everyMs);
      });
  }
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await last;
  };
}
