import { LRUCache } from 'lru-cache';

/**
 * What was looked up a moment ago. It is told of changes and does not wait for them to time out; the second is for a
 * message that was lost. While messages may be missed, nothing is kept and nothing is answered from here.
 */
export type InvalidatedCache<T> = {
  /** What is kept for the key and still holds, without asking anybody. */
  peek(key: string): T | null;
  /** Looks it up. */
  find(key: string): Promise<T | null>;
  /** Drops what matches, and what is being looked up now is not kept either. */
  forget(matches: (value: T) => boolean): void;
};

export type InvalidatedCacheDeps<T> = {
  readonly find: (key: string) => Promise<T | null>;
  /** For how long the value holds by itself, from when it was read; at most `LONGEST_LIFE_MS` is used. */
  readonly lifeMs: (value: T) => number;
  /** Whether changes made elsewhere are heard of now. */
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
  const kept = new LRUCache<string, { readonly value: T; readonly untilMs: number }>({ max: MAX_ENTRIES });
  let changes = 0;

  const keep = (key: string, value: T, readMs: number): void => {
    kept.set(key, { value, untilMs: readMs + Math.min(LONGEST_LIFE_MS, lifeMs(value)) });
  };

  return {
    peek(key) {
      const found = kept.get(key);
      return found !== undefined && monotonicMs() < found.untilMs && isBusConnected() ? found.value : null;
    },

    async find(key) {
      const before = changes;
      const readMs = monotonicMs();
      const value = await find(key);
      // What was read before a change may be from before it: good for this request, which came first, and no other.
      if (value !== null && changes === before && isBusConnected()) keep(key, value, readMs);
      return value;
    },

    forget(matches) {
      changes += 1;
      for (const [key, { value }] of [...kept]) if (matches(value)) kept.delete(key);
    },
  };
}
