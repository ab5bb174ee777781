/**
 * Terminals that wait to be opened, and those under way. Each costs some six programs in its container and a connection
 * to the database for a moment, so a burst is worked off a few at a time.
 */

/** A request for a terminal. `containerId` is of the container's row. */
export type OpeningRequest = {
  readonly id: string;
  readonly containerId: string;
  readonly userId: string;
};

/** How many are opened at the same time. */
export type OpeningLimits = {
  readonly total: number;
  readonly perContainer: number;
  readonly perUser: number;
};

/**
 * Four keep two processors busy. The total leaves two of a process's ten database connections to everything else while every
 * opening waits for one, and a user or container whose openings hang leaves half of it to others.
 */
export const OPENING_LIMITS: OpeningLimits = { total: 8, perContainer: 4, perUser: 4 };

/** A client waits so long for its turn; proxies and the page give up later. */
export const OPENING_WAIT_MS = 15_000;
/** When a client that waited in vain is to ask again. */
export const OPENING_RETRY_SECONDS = 5;

export type OpeningQueue = {
  /** In the order they came. */
  readonly waiting: readonly OpeningRequest[];
  readonly underway: readonly OpeningRequest[];
  /** Users with requests, the one whose turn was last at the end. */
  readonly served: readonly string[];
};

export type QueueEvent =
  | { readonly type: 'enter'; readonly request: OpeningRequest }
  /** It is open, has failed, or is not wanted any more. */
  | { readonly type: 'leave'; readonly id: string };

/** Requests whose turn it is. */
export type QueueStep = { readonly queue: OpeningQueue; readonly start: readonly string[] };

export const EMPTY_QUEUE: OpeningQueue = { waiting: [], underway: [], served: [] };

/** What becomes of the queue. Leaving without having entered changes nothing. */
export function nextQueue(queue: OpeningQueue, event: QueueEvent, limits: OpeningLimits): QueueStep {
  if (event.type === 'enter')
    return startWhatMay({ ...queue, waiting: [...queue.waiting, event.request] }, limits);
  const others = ({ id }: OpeningRequest): boolean => id !== event.id;
  const waiting = queue.waiting.filter(others);
  const underway = queue.underway.filter(others);
  const users = new Set([...waiting, ...underway].map(({ userId }) => userId));
  return startWhatMay({ waiting, underway, served: queue.served.filter((id) => users.has(id)) }, limits);
}

function startWhatMay(from: OpeningQueue, limits: OpeningLimits): QueueStep {
  let queue = from;
  const start: string[] = [];
  for (let next = chooseNext(queue, limits); next !== null; next = chooseNext(queue, limits)) {
    const { id, userId } = next;
    start.push(id);
    queue = {
      waiting: queue.waiting.filter((one) => one.id !== id),
      underway: [...queue.underway, next],
      served: [...queue.served.filter((user) => user !== userId), userId],
    };
  }
  return { queue, start };
}

/** Of those that the limits let through: the user with the fewest under way, then the one served longest ago, then the first. */
function chooseNext(
  { waiting, underway, served }: OpeningQueue,
  limits: OpeningLimits,
): OpeningRequest | null {
  if (underway.length >= limits.total) return null;
  const ofUser = countBy(underway, ({ userId }) => userId);
  const inContainer = countBy(underway, ({ containerId }) => containerId);
  const busyness = ({ userId }: OpeningRequest): number => ofUser.get(userId) ?? 0;
  const turn = ({ userId }: OpeningRequest): number => served.indexOf(userId);
  const comesBefore = (one: OpeningRequest, other: OpeningRequest): boolean =>
    busyness(one) < busyness(other) || (busyness(one) === busyness(other) && turn(one) < turn(other));
  return waiting
    .filter((one) => busyness(one) < limits.perUser)
    .filter(({ containerId }) => (inContainer.get(containerId) ?? 0) < limits.perContainer)
    .reduce<OpeningRequest | null>(
      (best, one) => (best === null || comesBefore(one, best) ? one : best),
      null,
    );
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
