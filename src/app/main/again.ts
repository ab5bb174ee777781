import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 5_000;
const MOST_MS = 300_000;

/**
 * Tries what has failed again until it succeeds, in 5 s, 10 s, 20 s and so on up to 5 minutes. `attempt` answers whether
 * it did, and never rejects. Answers false when the signal came first.
 */
export async function again(
  attempt: () => Promise<boolean>,
  signal: AbortSignal,
  firstMs = FIRST_MS,
): Promise<boolean> {
  for (let waitMs = firstMs; !signal.aborted; waitMs = Math.min(2 * waitMs, MOST_MS)) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted && (await attempt())) return true;
  }
  return false;
}
