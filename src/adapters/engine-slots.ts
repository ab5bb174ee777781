import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { slotQueue } from '../concurrency/slot-queue.ts';
import {
  ENGINE_LATE_MS,
  ENGINE_LIMITS,
  ENGINE_RETRY_SECONDS,
  ENGINE_WAIT_LIMITS,
  ENGINE_WAIT_MS,
  isFull,
  isUnresponsive,
  LATE_WAIT_MS,
  type SlotRequest,
} from '../domain/fair-queue.ts';
import { OutcomeUnknown, RuntimeBusy, RuntimeUnavailable } from '../ports/containers/container-runtime.ts';
import type { EngineWait } from '../ports/metrics.ts';

/** Who is charged for an engine call. Empty: Berth itself. */
export type OnBehalf = { readonly runtimeId?: string; readonly userId?: string | null };

export type EngineSlots = ReturnType<typeof engineSlots>;

type Asked = Omit<SlotRequest, 'id'>;

const MAX_KNOWN = 10_000;

/** Calls `late` when the work takes too long. A late start without an answer leaves the container unresponsive. */
async function reportedLate<T>(work: () => Promise<T>, late: () => void): Promise<T> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    late();
  }, ENGINE_LATE_MS);
  try {
    return await work();
  } catch (error) {
    const isLost = isLate && error instanceof RuntimeUnavailable && !(error instanceof OutcomeUnknown);
    throw isLost ? new RuntimeBusy('container_unresponsive', ENGINE_RETRY_SECONDS) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The users who are charged for calls to containers. */
function knownOwners() {
  const owners = new LRUCache<string, string>({ max: MAX_KNOWN });
  return {
    userOf: ({ runtimeId, userId }: OnBehalf): string =>
      userId ?? owners.get(runtimeId ?? '') ?? runtimeId ?? 'berth',

    /** Sets the container's owner for later calls. */
    belongs(runtimeId: string, ownerId: string | undefined): void {
      if (ownerId !== undefined) owners.set(runtimeId, ownerId);
    },
  };
}

type Turns = {
  readonly queue: ReturnType<typeof slotQueue>;
  /** Containers whose last process start was late, even if no caller waits for it any more. */
  readonly suspects: LRUCache<string, true>;
  readonly report: (wait: EngineWait) => void;
};

/** Returns a function that runs work in a slot. Limited work throws `RuntimeBusy` without a slot in time. */
function slotRunner({ queue, suspects, report }: Turns) {
  function refusal({ resourceId: runtimeId }: Asked, seconds: number): RuntimeBusy {
    const isStuck = isUnresponsive(queue.now(), runtimeId) || suspects.has(runtimeId);
    const code = isStuck ? 'container_unresponsive' : 'engine_busy';
    report({ work: 'calls', seconds, outcome: code });
    return new RuntimeBusy(code, ENGINE_RETRY_SECONDS);
  }

  return async function inSlot<T>(
    asked: Asked,
    isLimited: boolean,
    work: (id: string) => Promise<T>,
  ): Promise<T> {
    const id = randomUUID();
    const since = performance.now();
    if (isLimited && isFull(queue.now(), asked, ENGINE_WAIT_LIMITS)) throw refusal(asked, 0);
    const patience = suspects.has(asked.resourceId) ? LATE_WAIT_MS : ENGINE_WAIT_MS;
    const isStarted = await queue.enter({ id, ...asked }, { ms: isLimited ? patience : undefined });
    const seconds = (performance.now() - since) / 1000;
    if (!isStarted) throw refusal(asked, seconds);
    report({ work: 'calls', seconds, outcome: 'started' });
    return await work(id).finally(() => queue.leave(id));
  };
}

/** Limits an engine's mutating calls, fairly between users and containers. */
export function engineSlots() {
  const queue = slotQueue(ENGINE_LIMITS);
  const { userOf, belongs } = knownOwners();
  const suspects = new LRUCache<string, true>({ max: MAX_KNOWN });
  let report = (_wait: EngineWait): void => {};
  const inSlot = slotRunner({ queue, suspects, report: (wait) => report(wait) });

  return {
    /** Changes a container, volume or network. Waits without limit. */
    change: <T>(of: OnBehalf, work: () => Promise<T>): Promise<T> =>
      inSlot({ userId: userOf(of), resourceId: `change ${of.runtimeId ?? randomUUID()}` }, false, work),

    /**
     * Starts a process in a container. A late start gives up its slot, and nothing else starts there until it ends.
     * Throws `RuntimeBusy` without a slot in time.
     */
    start: <T>(runtimeId: string, work: () => Promise<T>): Promise<T> =>
      inSlot({ userId: userOf({ runtimeId }), resourceId: runtimeId }, true, async (id) => {
        const result = await reportedLate(work, () => {
          suspects.set(runtimeId, true);
          queue.late(id);
        });
        suspects.delete(runtimeId);
        return result;
      }),

    belongs,

    /** The user charged for calls to the container. */
    ownerOf: (runtimeId: string): string => userOf({ runtimeId }),

    /** Whether the container's last process start was late and none has succeeded since. */
    isSuspect: (runtimeId: string): boolean => suspects.has(runtimeId),

    waiting: (): number => queue.now().waiting.length,

    /** Reports every future wait. */
    listen: (listener: (wait: EngineWait) => void): void => {
      report = listener;
    },
  };
}
