/**
 * Kernel counters that all containers share, besides memory and processor. `descriptorsInFlight`: file descriptors in
 * undelivered messages over unix sockets. `terminals`: pseudo-terminals. `pipePages`: pipe buffers, in pages of 4 KiB.
 * `pendingSignals`: queued signals, and timers. `messageQueueBytes`: POSIX message queues. `keys`: session keys, one
 * for each process that the engine starts. `aioRequests`: of io_setup. `connections`: entries of the packet filter's
 * table.
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

/** One container's use of each counter. */
export type KernelShare = { readonly runtimeId: string; readonly counts: SharedCounts };

export type KernelReading = {
  /** The limits for all containers; a missing counter has none. */
  readonly limits: Partial<SharedCounts>;
  /** The use of all, where the kernel reports it; else the sum of the shares. */
  readonly totals: Partial<SharedCounts>;
  readonly shares: readonly KernelShare[];
};

/** A container and its owner, who is charged. */
export type OwnedShare = KernelShare & { readonly ownerId: string };

/** A container to stop. `used`: by all containers of its owner. */
export type Hog = {
  readonly runtimeId: string;
  readonly ownerId: string;
  readonly counter: SharedCounter;
  readonly used: number;
  readonly limit: number;
};

/** Above this share of its limit a counter is short, with enough left to react. */
export const SHORT_ABOVE = 1 / 2;
/** One owner's allowance of a short counter. */
export const ALLOWANCE = 1 / 8;
/** Above this share, for all owners, a container is stopped although no owner exceeds the allowance. */
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

/** Shown to the owner of a stopped container. */
export function hogReason({ counter, used, limit }: Pick<Hog, 'counter' | 'used' | 'limit'>): string {
  const what = `${used} of ${limit} ${WORDS[counter]} that all containers share`;
  return used > limit * ALLOWANCE
    ? `it used ${what}. Start it again, and use fewer`
    : `few were left, and it used the most: ${what}. Use fewer, or start it later`;
}

export function shortCounters({ limits, totals, shares }: KernelReading): readonly SharedCounter[] {
  const sum = (counter: SharedCounter): number =>
    shares.reduce((total, { counts }) => total + counts[counter], 0);
  return (Object.keys(WORDS) as SharedCounter[]).filter((counter) => {
    const limit = limits[counter];
    return limit !== undefined && (totals[counter] ?? sum(counter)) > limit * SHORT_ABOVE;
  });
}

/**
 * The containers to stop, one per short counter: the largest of the owner with most of it, if that owner exceeds the
 * allowance or the owners use nearly all. None is stopped for what other programs use.
 */
export function findHogs(reading: KernelReading, owned: readonly OwnedShare[]): readonly Hog[] {
  const hogs = shortCounters(reading).flatMap((counter) => {
    const limit = reading.limits[counter] ?? 0;
    const usedBy = new Map<string, number>();
    for (const { ownerId, counts } of owned)
      usedBy.set(ownerId, (usedBy.get(ownerId) ?? 0) + counts[counter]);
    const [ownerId, used] = [...usedBy].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
    const total = [...usedBy.values()].reduce((sum, one) => sum + one, 0);
    if (used <= limit * ALLOWANCE && total <= limit * NEARLY_GONE_ABOVE) return [];
    const theirs = owned.filter((share) => share.ownerId === ownerId);
    const largest = theirs.reduce((a, b) => (b.counts[counter] > a.counts[counter] ? b : a));
    return [{ runtimeId: largest.runtimeId, ownerId, counter, used, limit }];
  });
  return hogs.filter((hog, at) => hogs.findIndex(({ runtimeId }) => runtimeId === hog.runtimeId) === at);
}
