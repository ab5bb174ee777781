import { LRUCache } from 'lru-cache';

/** Per container, about the number of panes that a page opens at once. Per owner: of all containers. */
const MAX_OF_OWNER = 4;
/** Per process. Each has one of the 100 descriptors that are reserved for the database, the engine and programs. */
const MAX_SPARES = 32;
/** A container gets as many spares as terminals were opened there in this time, and none this long after a failure. */
const RECENT_MS = 60_000;
/** An unused spare ends after this time. */
const MAX_AGE_MS = 600_000;
/** Well below the time after which a spare assumes that its service is gone. */
const KEEP_ALIVE_EVERY_MS = 8_000;
const MAX_KNOWN = 1_000;

type Container = { readonly runtimeId: string; readonly ownerId: string };
type Waiting<S> = Container & { readonly spare: S; readonly sinceMs: number };

export type SpareDeps<S> = {
  readonly start: (runtimeId: string) => Promise<S>;
  readonly keepAlive: (spare: S) => void;
  readonly end: (spare: S) => void;
  /** Calls `done` when the spare cannot be used any more. */
  readonly whenUseless: (spare: S, done: () => void) => void;
  /** Whether no call waits for its turn at the engine. */
  readonly isIdle: () => boolean;
  readonly monotonicMs: () => number;
};

export type SparePool<S> = ReturnType<typeof sparePool<S>>;

/** Starts the spares of all containers one at a time, and hands them out. */
export function sparePool<S>(deps: SpareDeps<S>) {
  const waiting = waitingSpares(deps);
  const due = new Map<string, Container>();
  const recent = recentEvents(deps.monotonicMs);
  let isStarting = false;

  const isWanted = ({ runtimeId }: Container): boolean =>
    deps.isIdle() &&
    !recent.hasFailed(runtimeId) &&
    waiting.in(runtimeId).length < recent.openings(runtimeId).length;

  async function start(container: Container): Promise<void> {
    try {
      const spare = await deps.start(container.runtimeId);
      if (recent.hasFailed(container.runtimeId)) deps.end(spare);
      else waiting.add({ ...container, spare, sinceMs: deps.monotonicMs() });
    } catch {
      recent.failed(container.runtimeId);
    }
  }
  async function startDue(): Promise<void> {
    if (isStarting) return;
    isStarting = true;
    for (const [runtimeId, container] of due) {
      due.delete(runtimeId);
      for (let count = 0; count < MAX_OF_OWNER && isWanted(container); count += 1) await start(container);
    }
    isStarting = false;
  }

  return {
    /** A spare that waits in the container, or null. */
    take(runtimeId: string): S | null {
      const [entry] = waiting.in(runtimeId);
      if (entry === undefined) return null;
      waiting.forget(entry);
      return entry.spare;
    },

    /** A terminal was opened in the container: starts spares for the next ones. */
    noteOpened(container: Container): void {
      recent.opened(container.runtimeId);
      due.set(container.runtimeId, container);
      void startDue();
    },

    /** The container is out of processes: ends its spares, and starts none for a minute. */
    release(runtimeId: string): void {
      recent.failed(runtimeId);
      waiting.in(runtimeId).forEach(waiting.end);
    },
  };
}

/** The spares that wait. Where there are too many, the oldest ends. */
function waitingSpares<S>(deps: SpareDeps<S>) {
  /** The oldest first. */
  let entries: readonly Waiting<S>[] = [];
  let keepAlive: NodeJS.Timeout | undefined;

  function forget(entry: Waiting<S>): void {
    entries = entries.filter((one) => one !== entry);
    if (entries.length > 0) return;
    clearInterval(keepAlive);
    keepAlive = undefined;
  }
  function end(entry: Waiting<S>): void {
    forget(entry);
    deps.end(entry.spare);
  }
  function makeRoomFor(owner: string): void {
    const ofOwner = entries.filter(({ ownerId }) => ownerId === owner);
    if (ofOwner.length >= MAX_OF_OWNER) ofOwner.slice(0, 1).forEach(end);
    if (entries.length >= MAX_SPARES) entries.slice(0, 1).forEach(end);
  }
  function checkAll(): void {
    for (const entry of entries) {
      if (deps.monotonicMs() - entry.sinceMs > MAX_AGE_MS) end(entry);
      else deps.keepAlive(entry.spare);
    }
  }

  return {
    in: (id: string) => entries.filter(({ runtimeId }) => runtimeId === id),
    add(entry: Waiting<S>): void {
      makeRoomFor(entry.ownerId);
      entries = [...entries, entry];
      keepAlive ??= setInterval(checkAll, KEEP_ALIVE_EVERY_MS).unref();
      deps.whenUseless(entry.spare, () => end(entry));
    },
    /** The spare is in use, or gone. */
    forget,
    end,
  };
}

/** What happened in containers in the last `RECENT_MS`. */
function recentEvents(monotonicMs: () => number) {
  const openedMs = new LRUCache<string, readonly number[]>({ max: MAX_KNOWN });
  const failedMs = new LRUCache<string, number>({ max: MAX_KNOWN });
  const isRecent = (ms: number | undefined): boolean => ms !== undefined && monotonicMs() - ms < RECENT_MS;
  const openings = (runtimeId: string) => (openedMs.get(runtimeId) ?? []).filter(isRecent);
  return {
    /** The times of the last openings, at most `MAX_OF_OWNER`. */
    openings,
    opened: (runtimeId: string) =>
      openedMs.set(runtimeId, [...openings(runtimeId), monotonicMs()].slice(-MAX_OF_OWNER)),
    hasFailed: (runtimeId: string) => isRecent(failedMs.get(runtimeId)),
    failed: (runtimeId: string) => failedMs.set(runtimeId, monotonicMs()),
  };
}
