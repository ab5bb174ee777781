import type { OutputRoom } from '../../../ports/containers/container-runtime.ts';

/** Output of one command that needs no slot, in bytes: what most commands print. */
const FREE_BYTES = 16_384;
/** Commands that may keep more at once: each holds at most 2 MiB, so all of them 64 MiB. */
const SLOTS = 32;
const SLOTS_PER_USER = 4;

export type OutputReservation = OutputRoom & {
  /** Nobody reads the output any more, or all of it was read. The slot is free for the next one. */
  release(): void;
};

export type OutputSlots = { reserve(userId: string): OutputReservation };

/**
 * Bounds what the service keeps of commands whose output is answered in one piece. A command that prints much waits for a
 * slot. Users take turns, and one user has few slots: what a slow reader leaves in memory is charged to that user.
 */
export function outputSlots({ slots = SLOTS, slotsPerUser = SLOTS_PER_USER } = {}): OutputSlots {
  const slotsTaken = new Map<string, number>();
  /** Those who wait, by user. The first user of the map is served next. */
  const waiting = new Map<string, Set<() => void>>();
  let free = slots;

  const serve = (): void => {
    for (const [user, queue] of waiting) {
      if (free === 0) return;
      const count = slotsTaken.get(user) ?? 0;
      if (count >= slotsPerUser) continue;
      waiting.delete(user);
      for (const grant of queue) {
        queue.delete(grant);
        if (queue.size > 0) waiting.set(user, queue);
        slotsTaken.set(user, count + 1);
        free -= 1;
        grant();
        break;
      }
    }
  };
  const giveBack = (user: string): void => {
    const count = (slotsTaken.get(user) ?? 0) - 1;
    if (count > 0) slotsTaken.set(user, count);
    else slotsTaken.delete(user);
    free += 1;
    serve();
  };
  const leave = (user: string, grant: () => void): void => {
    const queue = waiting.get(user);
    queue?.delete(grant);
    if (queue?.size === 0) waiting.delete(user);
  };
  const reserve = (user: string): OutputReservation => {
    const unwanted = new AbortController();
    let hasSlot = false;
    let stopWaiting = (): void => {};
    const more = async (): Promise<void> => {
      if (unwanted.signal.aborted || hasSlot) return;
      await new Promise<void>((resolve) => {
        const grant = (): void => {
          hasSlot = true;
          resolve();
        };
        stopWaiting = () => {
          leave(user, grant);
          resolve();
        };
        waiting.set(user, (waiting.get(user) ?? new Set()).add(grant));
        serve();
      });
    };
    const release = (): void => {
      if (unwanted.signal.aborted) return;
      unwanted.abort();
      stopWaiting();
      if (hasSlot) giveBack(user);
    };
    return { freeBytes: FREE_BYTES, unwanted: unwanted.signal, more, release };
  };
  return { reserve };
}
