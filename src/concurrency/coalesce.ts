/**
 * One run of the work at a time. A call during a run gets the next run, which all such calls share: it starts after the
 * call, so it sees what the caller has just changed.
 */
export function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function start(): Promise<T> {
    next = null;
    const run = work().finally(() => {
      if (current === run) current = null;
    });
    current = run;
    return run;
  }

  return () => {
    if (next !== null) return next;
    if (current === null) return start();
    next = current.then(start, start);
    return next;
  };
}

/** Does the work for one value at a time. Of the values that arrive during a run, only the newest is used. */
export function latestOnly<T>(work: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let newest: T;
  const run = coalesced(() => work(newest));
  return (value) => {
    newest = value;
    return run();
  };
}
