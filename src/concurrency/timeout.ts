/** The work's outcome, or `late` when it takes longer than `ms`. The work goes on; what it throws later is ignored. */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const { promise: timeout, resolve } = Promise.withResolvers<L>();
  const timer = setTimeout(resolve, Math.max(0, ms), late);
  return await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Work on one item. */
export type EachWithin<T> = ((item: T) => Promise<void>) & {
  /** Resolves when all background work has ended, even if some of it failed. */
  readonly idle: () => Promise<void>;
};

/**
 * Wraps `work` so that a caller waits at most `ms` per item. Slower work continues in the background, and its item is
 * skipped until it ends.
 */
export function eachWithin<T>(
  ms: number,
  keyOf: (item: T) => string,
  work: (item: T) => Promise<void>,
): EachWithin<T> {
  const underway = new Map<string, Promise<void>>();
  const each = async (item: T): Promise<void> => {
    const key = keyOf(item);
    if (underway.has(key)) return;
    const working = work(item).finally(() => underway.delete(key));
    underway.set(key, working);
    await within(ms, working, undefined);
  };
  return Object.assign(each, {
    idle: async () => void (await Promise.allSettled(underway.values())),
  });
}

/** The work's outcome, or the signal's reason when it aborts first: for work that takes no signal. The work goes on. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return await Promise.race([work, aborted.promise]).finally(() =>
    signal.removeEventListener('abort', onAbort),
  );
}
