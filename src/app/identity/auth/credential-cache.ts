import { LRUCache } from 'lru-cache';

/**
 * A cache of at most a second, invalidated by messages; the second covers lost ones. While messages may be missed,
 * nothing is cached or answered from here.
 */
export type InvalidatedCache<T> = {
  /** The cached valid value, without a query. */
  peek(key: string): T | null;
  find(key: string): Promise<T | null>;
  /** Drops matching values; lookups in progress are not cached either. */
  forget(matches: (value: T) => boolean): void;
};

export type InvalidatedCacheDeps<T> = {
  readonly find: (key: string) => Promise<T | null>;
  /** How long the value stays valid, from its reading; capped at `LONGEST_LIFE_MS`. */
  readonly lifeMs: (value: T) => number;
  /** Whether messages about changes are being received. */
  readonly isBusConnected: () => boolean;
  readonly monotonicMs: () => number;
};

const LONGEST_LIFE_MS = 1_000;
const MAX_ENTRIES = 10_000;

export function invalidatedCache<T>({
  find,
  lifeMs,
  isBusConnected,
  monotonicMs,
}: InvalidatedCacheDeps<T>): InvalidatedCache<T> {
  const cache = new LRUCache<string, { readonly value: T; readonly untilMs: number }>({
    // unlike `max`, this allocates nothing in advance
    maxSize: MAX_ENTRIES,
    sizeCalculation: () => 1,
  });
  let changes = 0;

  const keep = (key: string, value: T, readMs: number): void => {
    const forMs = Math.min(LONGEST_LIFE_MS, lifeMs(value));
    if (forMs > 0) cache.set(key, { value, untilMs: readMs + forMs });
  };

  return {
    peek(key) {
      const found = cache.get(key);
      return found !== undefined && monotonicMs() < found.untilMs && isBusConnected() ? found.value : null;
    },

    async find(key) {
      const before = changes;
      const readMs = monotonicMs();
      const value = await find(key);
      // A read that began before a change may be outdated: valid for this earlier request only.
      if (value !== null && changes === before && isBusConnected()) keep(key, value, readMs);
      return value;
    },

    forget(matches) {
      changes += 1;
      for (const [key, { value }] of [...cache]) if (matches(value)) cache.delete(key);
    },
  };
}
