import {
  EMPTY_QUEUE,
  type FairQueue,
  isFull,
  nextQueue,
  type QueueEvent,
  type SlotLimits,
  type SlotRequest,
} from '../domain/fair-queue.ts';

/** How long a request waits for its slot; unlimited by default. */
type Wait = { readonly ms?: number | undefined; readonly signal?: AbortSignal };

/** Gives slots to requests, as `nextQueue` decides. */
export function slotQueue(limits: SlotLimits) {
  const settle = new Map<string, (hasSlot: boolean) => void>();
  let queue = EMPTY_QUEUE;

  function apply(event: QueueEvent): void {
    const { queue: after, start } = nextQueue(queue, event, limits);
    queue = after;
    for (const id of start) settle.get(id)?.(true);
  }

  async function wait(id: string, { ms, signal }: Wait): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => resolve(false);
    const timer = ms === undefined ? undefined : setTimeout(giveUp, ms);
    signal?.addEventListener('abort', giveUp, { once: true });
    settle.set(id, resolve);
    const hasSlot = await promise;
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    settle.delete(id);
    if (!hasSlot) apply({ type: 'leave', id });
    return hasSlot;
  }

  return {
    /** Whether the request gets a slot, which `leave` gives back. Synchronous when a slot is free. */
    enter(request: SlotRequest, limit: Wait = {}): boolean | Promise<boolean> {
      if (limit.signal?.aborted) return false;
      let hasSlot = false;
      settle.set(request.id, () => {
        hasSlot = true;
      });
      apply({ type: 'enter', request });
      if (!hasSlot) return wait(request.id, limit);
      settle.delete(request.id);
      return true;
    },

    leave: (id: string): void => apply({ type: 'leave', id }),

    /** Gives up a slot taken for too long; its resource gets no other until it leaves. */
    late: (id: string): void => apply({ type: 'late', id }),

    /** Refuses all waiting requests. */
    refuseWaiting(): void {
      for (const answer of settle.values()) answer(false);
    },

    now: (): FairQueue => queue,
  };
}

/**
 * Runs work of one key at a time, of `maxRunning` keys at once. Keys take turns, so each waits for at most one piece of
 * work of each other key. At most `maxWaiting` pieces of one key wait.
 */
export function fairTurns({ maxRunning, maxWaiting }: { maxRunning: number; maxWaiting: number }) {
  const queue = slotQueue({ total: maxRunning, perContainer: 1, perUser: 1 });
  let count = 0;

  async function runInTurn<T>(request: SlotRequest, work: () => Promise<T>): Promise<T> {
    await queue.enter(request);
    return await work().finally(() => queue.leave(request.id));
  }

  return {
    /** Runs the work when its turn comes; returns null at once when too much of that key waits. */
    run<T>(key: string, work: () => Promise<T>): Promise<T> | null {
      const asked = { resourceId: key, userId: key };
      if (isFull(queue.now(), asked, { perContainer: maxWaiting, perUser: maxWaiting })) return null;
      count += 1;
      return runInTurn({ id: String(count), ...asked }, work);
    },
  };
}
