/** Does the work for one value at a time. Of those that come meanwhile only the newest is worth it. */
export function latestOnly<T>(work: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let next: { readonly value: T } | null = null;
  let isRunning = false;
  let done: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    isRunning = true;
    try {
      while (next !== null) {
        const { value } = next;
        next = null;
        await work(value);
      }
    } finally {
      isRunning = false;
    }
  }

  return (value) => {
    next = { value };
    if (!isRunning) done = run();
    return done;
  };
}
