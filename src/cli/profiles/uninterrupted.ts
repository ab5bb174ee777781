const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs `work` to its end, although a signal ends the process: the signal takes effect then, a second one at once. */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  let caught: NodeJS.Signals | null = null;
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, note);
  };
  const note = (signal: NodeJS.Signals): void => {
    if (caught !== null) {
      release();
      process.kill(process.pid, signal);
    }
    caught = signal;
  };
  for (const signal of SIGNALS) process.on(signal, note);
  try {
    return await work();
  } finally {
    release();
    if (caught !== null) process.kill(process.pid, caught);
  }
}
