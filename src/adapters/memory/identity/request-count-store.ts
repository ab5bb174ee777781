import type { Clock } from '../../../ports/clock.ts';
import type { RequestCountStore } from '../../../ports/identity/request-count-store.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryRequestCounts(state: MemoryState, clock: Clock): RequestCountStore {
  const slot = (minute: number, key: string): string => `${minute} ${key}`;
  const at = (minute: number, key: string): number => state.requestCounts.get(slot(minute, key)) ?? 0;

  return {
    async add(counts) {
      const tallies = counts.map(({ key, minute, count }) => {
        const sum = at(minute, key) + count;
        state.requestCounts.set(slot(minute, key), sum);
        return { key, minute, count: sum, countBefore: at(minute - 1, key) };
      });
      return { now: clock.now(), tallies };
    },

    async forgetBefore(minute) {
      for (const name of state.requestCounts.keys()) {
        if (Number(name.split(' ', 1)[0]) < minute) state.requestCounts.delete(name);
      }
    },
  };
}
