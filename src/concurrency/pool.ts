/** Does the work for each item, for at most `maxRunning` of them at a time. */
export async function forEachAtMost<T>(
  maxRunning: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = items.values();
  const worker = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: maxRunning }, worker));
}
