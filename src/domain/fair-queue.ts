/**
 * Requests waiting for one of a few slots, and those that have one. Users take turns; no user or container gets all
 * slots.
 */

/** A request for a slot. `resourceId` names the container that it occupies. */
export type SlotRequest = {
  readonly id: string;
  readonly resourceId: string;
  readonly userId: string;
};

/** How many may have a slot at once. */
export type SlotLimits = {
  readonly total: number;
  readonly perContainer: number;
  readonly perUser: number;
};

/** How many may wait; more are refused at once. */
export type WaitLimits = { readonly perContainer: number; readonly perUser: number };

/**
 * Opening terminals. Four keep two processors busy. The total leaves two of a process's ten database connections to
 * other requests while every opening waits for one. A user or container whose openings hang leaves half of it to
 * others.
 */
export const OPENING_LIMITS: SlotLimits = { total: 8, perContainer: 4, perUser: 4 };

/** How long a client waits for its turn; proxies and the page give up later. */
export const OPENING_WAIT_MS = 15_000;
/** Retry time for a client that waited in vain. */
export const OPENING_RETRY_SECONDS = 5;

/**
 * The engine's mutating calls. It runs eight at once without slowing down. Two keep the two processors of a small
 * machine busy: a user who asks without a pause leaves others a third, and a container leaves one of three to the
 * user's others.
 */
export const ENGINE_LIMITS: SlotLimits = { total: 8, perContainer: 2, perUser: 3 };
/** Far more than anyone starts at once; a hanging container leaves half to its owner's others. */
export const ENGINE_WAIT_LIMITS: WaitLimits = { perContainer: 64, perUser: 128 };
/** The engine's own limit for a process start. */
export const ENGINE_WAIT_MS = 30_000;
/** A later process start is late: it takes half a second on a busy machine. */
export const ENGINE_LATE_MS = 5_000;
/** How long a request waits for a container with a late start, which may only be slow. */
export const LATE_WAIT_MS = 5_000;
export const ENGINE_RETRY_SECONDS = 5;

/**
 * Other expensive engine work, each kind with its own queue.
 *
 * `transfers`: archives and uploads from start to end. Clients decide how long they take, so they are limited per user
 * and container, not in all. `pieces`: 256 KiB of a file, so few move at once; one that takes over a second gives up
 * its turn. `figures`: a container's statistics; late ones give up their turn. `sizes`: the size of a container's
 * layer, for which the engine visits every file.
 */
export const WORK_LIMITS = {
  transfers: {
    limits: { total: Number.MAX_SAFE_INTEGER, perContainer: 4, perUser: 8 },
    wait: { perContainer: 16, perUser: 32, ms: ENGINE_WAIT_MS },
  },
  pieces: {
    limits: { total: 8, perContainer: 2, perUser: 4 },
    wait: null,
    late: { ms: 1_000, closes: false },
  },
  figures: {
    limits: { total: 4, perContainer: 1, perUser: 2 },
    wait: { perContainer: 4, perUser: 32, ms: 10_000 },
    late: { ms: 2_000, closes: true },
  },
  sizes: {
    limits: { total: 2, perContainer: 1, perUser: 1 },
    wait: { perContainer: 4, perUser: 16, ms: ENGINE_WAIT_MS },
  },
} as const satisfies Readonly<Record<string, unknown>>;

export type FairQueue = {
  /** In order of arrival. */
  readonly waiting: readonly SlotRequest[];
  readonly underway: readonly SlotRequest[];
  /** Starts that took too long: without a slot, but nothing else starts in their container. */
  readonly late: readonly SlotRequest[];
  /** Users with requests, the last one served at the end. */
  readonly served: readonly string[];
};

export type QueueEvent =
  | { readonly type: 'enter'; readonly request: SlotRequest }
  /** Gives up its slot and blocks its container until it leaves. */
  | { readonly type: 'late'; readonly id: string }
  /** Done, failed or cancelled. */
  | { readonly type: 'leave'; readonly id: string };

export type QueueStep = { readonly queue: FairQueue; readonly start: readonly string[] };

export const EMPTY_QUEUE: FairQueue = { waiting: [], underway: [], late: [], served: [] };

/** The next state of the queue. Leaving without having entered changes nothing. */
export function nextQueue(queue: FairQueue, event: QueueEvent, limits: SlotLimits): QueueStep {
  if (event.type === 'enter')
    return startWhatMay({ ...queue, waiting: [...queue.waiting, event.request] }, limits);
  const others = ({ id }: SlotRequest): boolean => id !== event.id;
  const waiting = queue.waiting.filter(others);
  const underway = queue.underway.filter(others);
  const tooLong = event.type === 'late' ? queue.underway.filter(({ id }) => id === event.id) : [];
  const late =
    event.type === 'late' ? [...queue.late, ...tooLong] : queue.late.filter(({ id }) => id !== event.id);
  const users = new Set([...waiting, ...underway].map(({ userId }) => userId));
  return startWhatMay(
    { waiting, underway, late, served: queue.served.filter((id) => users.has(id)) },
    limits,
  );
}

/** Whether a process start in the container took too long and has not ended. */
export const isUnresponsive = ({ late }: FairQueue, resourceId: string): boolean =>
  late.some((one) => one.resourceId === resourceId);

/** Whether the user or container has too many waiting requests. */
export function isFull(
  { waiting }: FairQueue,
  { resourceId, userId }: Omit<SlotRequest, 'id'>,
  limits: WaitLimits,
): boolean {
  const ofUser = waiting.filter((one) => one.userId === userId).length;
  const ofContainer = waiting.filter((one) => one.resourceId === resourceId).length;
  return ofUser >= limits.perUser || ofContainer >= limits.perContainer;
}

function startWhatMay(from: FairQueue, limits: SlotLimits): QueueStep {
  let queue = from;
  const start: string[] = [];
  for (let next = chooseNext(queue, limits); next !== null; next = chooseNext(queue, limits)) {
    const { id, userId } = next;
    start.push(id);
    queue = {
      ...queue,
      waiting: queue.waiting.filter((one) => one.id !== id),
      underway: [...queue.underway, next],
      served: [...queue.served.filter((user) => user !== userId), userId],
    };
  }
  return { queue, start };
}

/**
 * Within the limits: the user with the fewest in progress, then the one served longest ago, then the container with the
 * fewest, then the first request.
 */
function chooseNext(queue: FairQueue, limits: SlotLimits): SlotRequest | null {
  const { waiting, underway, served } = queue;
  if (waiting.length === 0 || underway.length >= limits.total) return null;
  const ofUser = countBy(underway, ({ userId }) => userId);
  const inContainer = countBy(underway, ({ resourceId }) => resourceId);
  const closed = new Set(queue.late.map(({ resourceId }) => resourceId));
  const rank = ({ userId, resourceId }: SlotRequest): readonly number[] => [
    ofUser.get(userId) ?? 0,
    served.indexOf(userId),
    inContainer.get(resourceId) ?? 0,
  ];
  return waiting
    .filter(({ userId }) => (ofUser.get(userId) ?? 0) < limits.perUser)
    .filter(({ resourceId }) => (inContainer.get(resourceId) ?? 0) < limits.perContainer)
    .filter(({ resourceId }) => !closed.has(resourceId))
    .reduce<SlotRequest | null>(
      (best, one) => (best === null || isBefore(rank(one), rank(best)) ? one : best),
      null,
    );
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at >= 0 && (one[at] as number) < (other[at] as number);
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
