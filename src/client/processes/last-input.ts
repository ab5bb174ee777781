/** How long a client that leaves waits until its input has arrived. */
export const LEAVE_WITHIN_MS = 2_000;
export const POLL_MS = 20;

/** Calls `then` once all input was sent, at once if it was, or when the time has passed. */
export function whenSent(isSent: () => boolean, then: () => void, withinMs: number): void {
  if (withinMs <= 0 || isSent()) then();
  else setTimeout(() => whenSent(isSent, then, withinMs - POLL_MS), POLL_MS);
}
