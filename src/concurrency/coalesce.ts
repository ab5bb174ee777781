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

/** The same for each key: a call during a run of its key gets the next run, which starts after the call. */
export function coalescedByKey<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const keys = new Map<string, { readonly run: () => Promise<T>; callers: number }>();
  return async (key) => {
    const known = keys.get(key) ?? { run: coalesced(() => work(key)), callers: 0 };
    keys.set(key, known);
    known.callers += 1;
    try {
      return await known.run();
    } finally {
      known.callers -= 1;
      if (known.callers === 0) keys.delete(key);
    }
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

/** Does the work for one value after the other. Calls with a value that waits already share its run. */
export function eachOnce<T>(work: (value: T) => Promise<void>): (value: T) => Promise<void> {
  const waiting = new Map<T, Promise<void>>();
  let last = Promise.resolve();
  return (value) => {
    const known = waiting.get(value);
    if (known !== undefined) return known;
    const run = last.then(() => {
      waiting.delete(value);
      return work(value);
    });
    waiting.set(value, run);
    last = run.catch(() => {});
    return run;
  };
}

/** Does the work a while after a call. Calls meanwhile share that run; `cancel` drops it. */
export function throttled(delayMs: number, work: () => void): { call(): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = undefined;
        work();
      }, delayMs);
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
