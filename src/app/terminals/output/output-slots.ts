import type { OutputRoom } from '../../../ports/output-room.ts';

/** Output of one command without a slot, in bytes: enough for most. */
const FREE_BYTES = 16_384;
/** Slots for larger outputs, each at most 2 MiB, so 64 MiB in all. */
const SLOTS = 32;
const SLOTS_PER_USER = 4;

export type OutputReservation = OutputRoom & {
  /** The output was read, or its reader is gone: frees the slot. */
  release(): void;
};

export type OutputSlots = { reserve(userId: string): OutputReservation };

/** A number of slots, for which users take turns. */
function slotsInTurn(slots: number, slotsPerUser: number) {
  const slotsTaken = new Map<string, number>();
  /** Waiting calls by user. The first user of the map is next. */
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
  return {
    /** Calls `grant` when the user gets a slot, perhaps now. */
    wait(user: string, grant: () => void): void {
      waiting.set(user, (waiting.get(user) ?? new Set()).add(grant));
      serve();
    },
    leave(user: string, grant: () => void): void {
      const queue = waiting.get(user);
      queue?.delete(grant);
      if (queue?.size === 0) waiting.delete(user);
    },
    giveBack(user: string): void {
      const count = (slotsTaken.get(user) ?? 0) - 1;
      if (count > 0) slotsTaken.set(user, count);
      else slotsTaken.delete(user);
      free += 1;
      serve();
    },
  };
}

/**
 * Limits the buffered output of commands that answer in one piece. A command with much output waits for a slot. Users
 * take turns and have few slots each: what a slow reader leaves in memory is charged to its user.
 */
export function outputSlots({ slots = SLOTS, slotsPerUser = SLOTS_PER_USER } = {}): OutputSlots {
  const inTurn = slotsInTurn(slots, slotsPerUser);
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
          inTurn.leave(user, grant);
          resolve();
        };
        inTurn.wait(user, grant);
      });
    };
    const release = (): void => {
      if (unwanted.signal.aborted) return;
      unwanted.abort();
      stopWaiting();
      if (hasSlot) inTurn.giveBack(user);
    };
    return { freeBytes: FREE_BYTES, unwanted: unwanted.signal, more, release };
  };
  return { reserve };
}
