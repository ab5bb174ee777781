/** The work's outcome, or `late` when it takes longer than `ms`. The work goes on; what it throws later is ignored. */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  const { promise: timeout, resolve } = Promise.withResolvers<L>();
  const timer = setTimeout(resolve, Math.max(0, ms), late);
  return await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
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
