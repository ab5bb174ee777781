/**
 * Work of one key at a time, of `maxRunning` keys at once. Keys take turns, so that nobody waits for more than one piece
 * of work of each other key. At most `maxWaiting` pieces of one key wait.
 */
export function fairTurns({ maxRunning, maxWaiting }: { maxRunning: number; maxWaiting: number }) {
  // The key whose turn is next comes first.
  const waiting = new Map<string, (() => void)[]>();
  const running = new Set<string>();

  function startNext(): void {
    for (const [key, queue] of waiting) {
      if (running.size >= maxRunning) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      const start = queue.shift();
      if (queue.length > 0) waiting.set(key, queue);
      running.add(key);
      start?.();
    }
  }

  return {
    /** Runs the work when its turn comes; null, at once, when too much of that key waits. */
    run<T>(key: string, work: () => Promise<T>): Promise<T> | null {
      const queue = waiting.get(key) ?? [];
      if (queue.length >= maxWaiting) return null;
      const { promise: turn, resolve: start } = Promise.withResolvers<void>();
      queue.push(start);
      waiting.set(key, queue);
      startNext();
      return turn.then(work).finally(() => {
        running.delete(key);
        const rest = waiting.get(key);
        // Behind those who have waited meanwhile.
        if (rest !== undefined && waiting.delete(key)) waiting.set(key, rest);
        startNext();
      });
    },
  };
}
