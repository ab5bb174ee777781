type Waiting<T> = { readonly item: T; done(): void; failed(error: unknown): void };

/**
 * Joins what is asked for under the same key: one run at a time, and what comes meanwhile goes into the next, at most `most`
 * of it. Each caller is answered with the run that had its item. A run that fails has failed for all; one that answers has a fault for
 * each item, or null, which a missing one stands for as well.
 */
export function batchByKey<T>(
  most: number,
  run: (key: string, items: readonly T[]) => Promise<readonly (Error | null)[]>,
): (key: string, item: T) => Promise<void> {
  const lines = new Map<string, Waiting<T>[]>();

  async function work(key: string, line: Waiting<T>[]): Promise<void> {
    while (line.length > 0) {
      const now = line.splice(0, most);
      const items = now.map(({ item }) => item);
      await run(key, items).then(
        (faults) =>
          now.forEach(({ done, failed }, at) => {
            const fault = faults[at] ?? null;
            if (fault === null) done();
            else failed(fault);
          }),
        (error: unknown) => now.forEach(({ failed }) => void failed(error)),
      );
    }
    lines.delete(key);
  }

  return (key, item) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { item, done: resolve, failed: reject };
    const line = lines.get(key);
    if (line !== undefined) line.push(waiting);
    else {
      const first = [waiting];
      lines.set(key, first);
      void work(key, first);
    }
    return promise;
  };
}
