/**
 * Collects "was used just now" facts and writes them together, at most once in `everyMs` for each id (R13).
 * A failed write never fails the request that caused it: what was lost is written by the next use.
 */
export type Touches = {
  /**
   * `lastWritten` is what the store holds, so that a first use is noticed by every process. A shorter `everyMs` is for
   * an id whose last use decides more.
   */
  used(id: string, lastWritten: Date, now: Date, everyMs?: number): void;
  flush(): Promise<void>;
};

export function touches(
  write: (ids: readonly string[], at: Date) => Promise<void>,
  everyMs: number,
): Touches {
  const written = new Map<string, number>();
  let pending = new Map<string, Date>();

  return {
    used(id, lastWritten, now, often = everyMs) {
      const last = Math.max(lastWritten.getTime(), written.get(id) ?? 0);
      if (now.getTime() - last >= often) pending.set(id, now);
    },

    async flush() {
      if (pending.size === 0) return;
      const batch = pending;
      pending = new Map();
      const at = new Date(Math.max(...[...batch.values()].map((date) => date.getTime())));
      await write([...batch.keys()], at);
      for (const [id, last] of written) if (at.getTime() - last >= everyMs) written.delete(id);
      for (const id of batch.keys()) written.set(id, at.getTime());
    },
  };
}
