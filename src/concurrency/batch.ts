/**
 * Joins the lookups of one turn of the event loop into one. Each is as fresh as one made alone: it starts after the
 * call. `find` returns the rows that exist, by key.
 */
export function batchedLookup<T>(
  find: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): (key: string) => Promise<T | null> {
  let keys = new Set<string>();
  let batch: Promise<ReadonlyMap<string, T>> | null = null;

  const start = async (): Promise<ReadonlyMap<string, T>> => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const asked = [...keys];
    keys = new Set();
    batch = null;
    return await find(asked);
  };

  return async (key) => {
    keys.add(key);
    batch ??= start();
    return (await batch).get(key) ?? null;
  };
}

type Waiting<T> = { readonly item: T; done(): void; failed(error: unknown): void };

/**
 * Joins items under the same key: one run per key at a time; items that arrive during a run go into the next, at most
 * `maxItems` of them. Each caller gets the outcome of the run that had its item. A run that throws fails for all its
 * items; one that returns has a fault or null for each item, and a missing one counts as null.
 */
export function batchByKey<T>(
  maxItems: number,
  run: (key: string, items: readonly T[]) => Promise<readonly (Error | null)[]>,
): (key: string, item: T) => Promise<void> {
  const queues = new Map<string, Waiting<T>[]>();

  async function work(key: string, queue: Waiting<T>[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, maxItems);
      const items = batch.map(({ item }) => item);
      await run(key, items).then(
        (faults) =>
          batch.forEach(({ done, failed }, at) => {
            const fault = faults[at] ?? null;
            if (fault === null) done();
            else failed(fault);
          }),
        (error: unknown) => batch.forEach(({ failed }) => void failed(error)),
      );
    }
    queues.delete(key);
  }

  return (key, item) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { item, done: resolve, failed: reject };
    const queue = queues.get(key);
    if (queue !== undefined) queue.push(waiting);
    else {
      const first = [waiting];
      queues.set(key, first);
      void work(key, first);
    }
    return promise;
  };
}
