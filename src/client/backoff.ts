export type Backoff = { readonly firstMs: number; readonly maxMs: number };

export const RECONNECT: Backoff = { firstMs: 300, maxMs: 15_000 };

/** While the service answers but its engine does not: a try costs little, and the engine is back within seconds. */
const SHELL_RETRY_MAX_MS = 3_000;

export const forShell = ({ firstMs, maxMs }: Backoff): Backoff => ({
  firstMs,
  maxMs: Math.min(maxMs, SHELL_RETRY_MAX_MS),
});

/**
 * Delay before try number `attempt` (0 is the first), in ms: doubling up to the maximum, the upper half random
 * (`random` from 0 to 1), so that many clients of a restarted service do not come back in step.
 */
export function retryDelayMs(
  attempt: number,
  random: number,
  { firstMs, maxMs }: Backoff = RECONNECT,
): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(full / 2 + (full / 2) * random);
}

/** The delay that the service asked for, at most the maximum; else that of the try. */
export const nextTryMs = (attempt: number, requestedMs: number | null, backoff: Backoff): number =>
  requestedMs !== null && requestedMs > 0
    ? Math.min(requestedMs, backoff.maxMs)
    : retryDelayMs(attempt, Math.random(), backoff);
