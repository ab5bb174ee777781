import { LRUCache } from 'lru-cache';

/** Per container, about the number of panes that a page opens at once. Per owner: of all containers. */
const MAX_OF_OWNER = 4;
/** Per process. Each has one of the 100 descriptors that are reserved for the database, the engine and programs. */
const MAX_SPARES = 32;
/** A container gets as many spares as terminals were opened there in this time. After a failure it gets none for as long. */
const RECENT_MS = 60_000;
/** A spare that nobody needed for this long ends. */
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
  /** Whether the engine has time for work that nobody waits for. */
  readonly isIdle: () => boolean;
  readonly monotonicMs: () => number;
};

export type SparePool<S> = ReturnType<typeof sparePool<S>>;

/** The spares of all containers. They start one at a time, and the oldest ends where there are too many. */
export function sparePool<S>(deps: SpareDeps<S>) {
  /** The oldest first. */
  let waiting: readonly Waiting<S>[] = [];
  const due = new Map<string, Container>();
  const openedMs = new LRUCache<string, readonly number[]>({ max: MAX_KNOWN });
  const failedMs = new LRUCache<string, number>({ max: MAX_KNOWN });
  let isStarting = false;
  let keepAlive: NodeJS.Timeout | undefined;

  const isRecent = (ms: number | undefined): boolean =>
    ms !== undefined && deps.monotonicMs() - ms < RECENT_MS;
  const waitingIn = (id: string) => waiting.filter(({ runtimeId }) => runtimeId === id);
  const isWanted = ({ runtimeId }: Container): boolean =>
    deps.isIdle() &&
    !isRecent(failedMs.get(runtimeId)) &&
    waitingIn(runtimeId).length < (openedMs.get(runtimeId) ?? []).filter(isRecent).length;

  function forget(entry: Waiting<S>): void {
    waiting = waiting.filter((one) => one !== entry);
    if (waiting.length > 0) return;
    clearInterval(keepAlive);
    keepAlive = undefined;
  }
  function end(entry: Waiting<S>): void {
    forget(entry);
    deps.end(entry.spare);
  }
  function makeRoomFor(owner: string): void {
    const ofOwner = waiting.filter(({ ownerId }) => ownerId === owner);
    if (ofOwner.length >= MAX_OF_OWNER) ofOwner.slice(0, 1).forEach(end);
    if (waiting.length >= MAX_SPARES) waiting.slice(0, 1).forEach(end);
  }
  function checkAll(): void {
    for (const entry of waiting) {
      if (deps.monotonicMs() - entry.sinceMs > MAX_AGE_MS) end(entry);
      else deps.keepAlive(entry.spare);
    }
  }

  async function start(container: Container): Promise<void> {
    const { runtimeId, ownerId } = container;
    try {
      const spare = await deps.start(runtimeId);
      if (isRecent(failedMs.get(runtimeId))) return deps.end(spare);
      makeRoomFor(ownerId);
      const entry = { ...container, spare, sinceMs: deps.monotonicMs() };
      waiting = [...waiting, entry];
      keepAlive ??= setInterval(checkAll, KEEP_ALIVE_EVERY_MS).unref();
      deps.whenUseless(spare, () => end(entry));
    } catch {
      failedMs.set(runtimeId, deps.monotonicMs());
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
      const [entry] = waitingIn(runtimeId);
      if (entry === undefined) return null;
      forget(entry);
      return entry.spare;
    },

    /** A terminal was opened in the container: starts spares for the next ones. */
    opened(container: Container): void {
      const { runtimeId } = container;
      const recent = (openedMs.get(runtimeId) ?? []).filter(isRecent);
      openedMs.set(runtimeId, [...recent, deps.monotonicMs()].slice(-MAX_OF_OWNER));
      due.set(runtimeId, container);
      void startDue();
    },

    /** The container is out of processes: ends its spares, and starts none for a minute. */
    release(runtimeId: string): void {
      failedMs.set(runtimeId, deps.monotonicMs());
      waitingIn(runtimeId).forEach(end);
    },
  };
}
