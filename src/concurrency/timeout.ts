/** The work's outcome, or `late` when it takes longer than `ms`. The work goes on; what it throws later is ignored. */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const { promise: timeout, resolve } = Promise.withResolvers<L>();
  const timer = setTimeout(resolve, Math.max(0, ms), late);
  return await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Work of which a caller waits at most `ms` for each item. What takes longer goes on; until it ends, that item is passed
 * over.
 */
export function eachWithin<T>(
  ms: number,
  keyOf: (item: T) => string,
  work: (item: T) => Promise<void>,
): (item: T) => Promise<void> {
  const underway = new Set<string>();
  return async (item) => {
    const key = keyOf(item);
    if (underway.has(key)) return;
    underway.add(key);
    await within(
      ms,
      work(item).finally(() => underway.delete(key)),
      undefined,
    );
  };
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
