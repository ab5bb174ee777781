export function countsByKey() {
  const counts = new Map<string, number>();

  function release(key: string): void {
    const left = (counts.get(key) ?? 1) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  }

  return {
    /** Takes one of at most `limit`; the result releases it, idempotently. Null when none is free. */
    take(key: string, limit: number): (() => void) | null {
      const count = counts.get(key) ?? 0;
      if (count >= limit) return null;
      counts.set(key, count + 1);
      let isTaken = true;
      return () => {
        if (isTaken) release(key);
        isTaken = false;
      };
    },

    all: (): readonly number[] => [...counts.values()],
  };
}
