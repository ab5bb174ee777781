/** Runs one piece of work at a time for each key; different keys do not wait for each other. */
export type Serial = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function serialByKey(): Serial {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const run = (tails.get(key) ?? Promise.resolve()).then(work, work);
    const tail = run.catch(() => undefined).finally(() => tails.get(key) === tail && tails.delete(key));
    tails.set(key, tail);
    return run;
  };
}
