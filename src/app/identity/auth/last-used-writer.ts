import type { Use } from '../../../ports/identity/session-repository.ts';

/**
 * Collects last uses and writes them in batches, at most once in `everyMs` per id. A failed write never fails the
 * request that caused it; the next write includes its uses.
 */
export type LastUsedWriter = {
  /**
   * `lastWrittenMs`: the stored use, which may be another process's; null when there is none, and then the promise
   * settles, without rejecting, after the attempt to write this first use. A shorter `withinMs` is for an id whose last
   * use decides more.
   */
  used(id: string, lastWrittenMs: number | null, withinMs?: number): Promise<void> | undefined;
  /** The last use known here, written or not; null when the store knows it. */
  lastMs(id: string): number | null;
  /** The last use not yet written; null when there is none. */
  pending(id: string): Date | null;
  flush(): Promise<void>;
  /** Writes all of them; for shutdown. */
  flushAll(): Promise<void>;
};

export type LastUsedWriterDeps = {
  readonly write: (uses: readonly Use[]) => Promise<void>;
  readonly everyMs: number;
  readonly nowMs: () => number;
};

type Entry = {
  usedMs: number;
  savedMs: number;
  writtenMs: number;
  withinMs: number;
  first: Promise<void> | undefined;
};

export function lastUsedWriter({ write, everyMs, nowMs }: LastUsedWriterDeps): LastUsedWriter {
  const entries = new Map<string, Entry>();
  let last: Promise<void> = Promise.resolve();

  async function writeThose(due: (entry: Entry) => boolean): Promise<void> {
    const batch = [...entries]
      .filter(([, entry]) => isPending(entry) && due(entry))
      .map(([id, entry]) => ({ id, entry, usedMs: entry.usedMs }));
    const now = nowMs();
    if (batch.length > 0) await write(batch.map(({ id, usedMs }) => ({ id, at: new Date(usedMs) })));
    for (const { entry, usedMs } of batch) {
      entry.savedMs = usedMs;
      entry.writtenMs = now;
    }
    for (const [id, entry] of entries) {
      if (!isPending(entry) && now - entry.writtenMs >= everyMs) entries.delete(id);
    }
  }

  // One write at a time, so that no use is written twice.
  const inTurn = (due: (entry: Entry) => boolean): Promise<void> => {
    const run = (): Promise<void> => writeThose(due);
    last = last.then(run, run);
    return last;
  };

  return {
    used(id, lastWrittenMs, withinMs = everyMs) {
      const usedMs = nowMs();
      const known = entries.get(id);
      if (known !== undefined) {
        Object.assign(known, { usedMs, withinMs });
        if (lastWrittenMs !== null) noteWritten(known, lastWrittenMs);
        return known.first;
      }
      const writtenMs = lastWrittenMs ?? Number.NEGATIVE_INFINITY;
      const entry: Entry = { usedMs, savedMs: writtenMs, writtenMs, withinMs, first: undefined };
      entries.set(id, entry);
      if (lastWrittenMs === null) entry.first = writeFirst(write, id, entry);
      return entry.first;
    },

    lastMs: (id) => entries.get(id)?.usedMs ?? null,

    pending(id) {
      const entry = entries.get(id);
      return entry !== undefined && isPending(entry) ? new Date(entry.usedMs) : null;
    },

    flush: () => inTurn((entry) => nowMs() - entry.writtenMs >= entry.withinMs),
    flushAll: () => inTurn(() => true),
  };
}

const isPending = ({ usedMs, savedMs }: Entry): boolean => usedMs > savedMs;

function noteWritten(entry: Entry, writtenMs: number): void {
  entry.savedMs = Math.max(entry.savedMs, writtenMs);
  entry.writtenMs = Math.max(entry.writtenMs, writtenMs);
}

/** Tries once; after a failure the use stays pending. */
async function writeFirst(write: LastUsedWriterDeps['write'], id: string, entry: Entry): Promise<void> {
  const { usedMs } = entry;
  try {
    await write([{ id, at: new Date(usedMs) }]);
    entry.savedMs = usedMs;
    entry.writtenMs = Math.max(entry.writtenMs, usedMs);
  } catch {
    // it stays pending
  } finally {
    entry.first = undefined;
  }
}
