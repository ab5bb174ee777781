/**
 * Lookups of one turn of the event loop, made together. Each is as fresh as one made alone: it starts after it was asked
 * for. `find` answers those that exist, by key.
 */
export function batched<T>(
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
