const MARGIN_MS = 60_000;
const LONGEST_MS = 14 * 60_000;
const SHORTEST_MS = 30_000;

/**
 * How long to use a login token before it is renewed, in ms: up to a minute before it expires. A clock of this
 * machine that is wrong makes renewals more or less frequent, never absent.
 */
export function usableForMs(expiresAt: string, nowMs: number): number {
  const left = Date.parse(expiresAt) - nowMs - MARGIN_MS;
  return Number.isNaN(left) ? SHORTEST_MS : Math.min(LONGEST_MS, Math.max(SHORTEST_MS, left));
}
