/**
 * Counters of the kernel that all containers share, beside memory and processor. `descriptorsInFlight`: file descriptors in messages
 * over unix sockets that nobody has received. `terminals`: pseudo-terminals. `pipePages`: room in pipes, in pages of 4 KiB.
 * `pendingSignals`: signals that wait, and timers. `messageQueueBytes`: room in POSIX message queues. `keys`: of sessions, one for each
 * process that the engine starts. `aioRequests`: of io_setup. `connections`: entries of the packet filter's table.
 */
export type SharedCounter =
  | 'descriptorsInFlight'
  | 'inotifyInstances'
  | 'pipePages'
  | 'pendingSignals'
  | 'terminals'
  | 'messageQueueBytes'
  | 'keys'
  | 'aioRequests'
  | 'connections';

export type SharedCounts = Readonly<Record<SharedCounter, number>>;

export const NO_COUNTS: SharedCounts = {
  descriptorsInFlight: 0,
  inotifyInstances: 0,
  pipePages: 0,
  pendingSignals: 0,
  terminals: 0,
  messageQueueBytes: 0,
  keys: 0,
  aioRequests: 0,
  connections: 0,
};

/** What one container has of each. */
export type KernelShare = { readonly runtimeId: string; readonly counts: SharedCounts };

export type KernelReading = {
  /** What all together may have; a counter without a limit here has none. */
  readonly limits: Partial<SharedCounts>;
  /** What all together have, where the kernel says so; else it is the sum of the shares. */
  readonly totals: Partial<SharedCounts>;
  readonly shares: readonly KernelShare[];
};

/** A container with its owner, who is charged for all of theirs. */
export type OwnedShare = KernelShare & { readonly ownerId: string };

/** One that is to be stopped. `used` is what all containers of its owner have. */
export type Hog = {
  readonly runtimeId: string;
  readonly ownerId: string;
  readonly counter: SharedCounter;
  readonly used: number;
  readonly limit: number;
};

/** Above this part of a limit the counter is short, so that there is still room while something is done about it. */
export const SHORT_ABOVE = 1 / 2;
/** What one owner may have of a counter that is short. */
export const ALLOWANCE = 1 / 8;
/** Above this part of a limit, taken by all owners together, one is stopped although none is above the allowance. */
export const NEARLY_GONE_ABOVE = 3 / 4;

const WORDS: Readonly<Record<SharedCounter, string>> = {
  descriptorsInFlight: 'file descriptors in flight over sockets',
  inotifyInstances: 'inotify instances',
  pipePages: 'pages of pipe buffers',
  pendingSignals: 'pending signals and timers',
  terminals: 'pseudo-terminals',
  messageQueueBytes: 'bytes of POSIX message queues',
  keys: 'session keys',
  aioRequests: 'io_setup requests',
  connections: 'packet filter connections',
};

/** Shown to the owner of a container that was stopped. */
export function hogReason({ counter, used, limit }: Pick<Hog, 'counter' | 'used' | 'limit'>): string {
  const what = `${used} of ${limit} ${WORDS[counter]} that all containers share`;
  return used > limit * ALLOWANCE
    ? `it used ${what}. Start it again, and use fewer`
    : `few were left, and it used the most: ${what}. Use fewer, or start it later`;
}

/** The counters that are short. */
export function shortCounters({ limits, totals, shares }: KernelReading): readonly SharedCounter[] {
  const sum = (counter: SharedCounter): number =>
    shares.reduce((total, { counts }) => total + counts[counter], 0);
  return (Object.keys(WORDS) as SharedCounter[]).filter((counter) => {
    const limit = limits[counter];
    return limit !== undefined && (totals[counter] ?? sum(counter)) > limit * SHORT_ABOVE;
  });
}

/**
 * Which containers to stop, one for each counter that is short: the largest of the owner who has most of it, if that is above the
 * allowance, or if the owners together have nearly all. Nobody is stopped while enough is left, or for what containers do not have.
 */
export function findHogs(reading: KernelReading, owned: readonly OwnedShare[]): readonly Hog[] {
  const hogs = shortCounters(reading).flatMap((counter) => {
    const limit = reading.limits[counter] ?? 0;
    const usedBy = new Map<string, number>();
    for (const { ownerId, counts } of owned)
      usedBy.set(ownerId, (usedBy.get(ownerId) ?? 0) + counts[counter]);
    const [ownerId, used] = [...usedBy].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
    const together = [...usedBy.values()].reduce((sum, one) => sum + one, 0);
    if (used <= limit * ALLOWANCE && together <= limit * NEARLY_GONE_ABOVE) return [];
    const theirs = owned.filter((share) => share.ownerId === ownerId);
    const largest = theirs.reduce((a, b) => (b.counts[counter] > a.counts[counter] ? b : a));
    return [{ runtimeId: largest.runtimeId, ownerId, counter, used, limit }];
  });
  return hogs.filter((hog, at) => hogs.findIndex(({ runtimeId }) => runtimeId === hog.runtimeId) === at);
}
