export type Backoff = { readonly firstMs: number; readonly maxMs: number };

export const RECONNECT: Backoff = { firstMs: 300, maxMs: 15_000 };

/** While the service answers but its engine does not: a try costs little, and the engine is back within seconds. */
export const SHELL_RETRY_MAX_MS = 3_000;

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

/** The delay that the service asked for, at most the maximum; null when it asked for none. */
export const requestedDelayMs = (ms: number | null, { maxMs }: Backoff = RECONNECT): number | null =>
  ms !== null && ms > 0 ? Math.min(ms, maxMs) : null;
