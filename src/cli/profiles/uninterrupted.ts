import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work` to its end even when a signal arrives after it has called `begin`: the signal takes effect at the end, a
 * second one at once. Throws then, so that nothing follows.
 */
export async function uninterrupted<T>(work: (begin: () => void) => Promise<T>): Promise<T> {
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
  const begin = (): void => {
    for (const signal of SIGNALS) process.on(signal, note);
  };
  const [end] = await Promise.allSettled([work(begin)]);
  release();
  if (caught !== null) {
    process.kill(process.pid, caught);
    // why: a listener of the signal runs later
    throw new CliError('Interrupted.', { exit: EXIT.interrupted, code: 'interrupted' });
  }
  if (end.status === 'rejected') throw end.reason;
  return end.value;
}
