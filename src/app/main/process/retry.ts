import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 5_000;
const MOST_MS = 300_000;

/** Ends early on the signal. */
const sleepUntil = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/**
 * Retries until success, after 5 s, 10 s, 20 s and so on up to 5 minutes. `attempt` returns whether it succeeded, and
 * never rejects. Returns false when the signal came first.
 */
export async function retryWithBackoff(
  attempt: () => Promise<boolean>,
  signal: AbortSignal,
  firstMs = FIRST_MS,
  pause = sleepUntil,
): Promise<boolean> {
  for (let waitMs = firstMs; !signal.aborted; waitMs = Math.min(2 * waitMs, MOST_MS)) {
    await pause(waitMs, signal);
    if (!signal.aborted && (await attempt())) return true;
  }
  return false;
}
