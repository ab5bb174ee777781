import type { CarriedImages } from '../../../ports/containers/carried-image-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export const memoryCarriedImages = (state: MemoryState): CarriedImages => ({
  find: async (dbId) => state.carried.get(dbId) ?? null,
  async put(dbId, carried) {
    if (carried === null) state.carried.delete(dbId);
    else state.carried.set(dbId, carried);
  },
  inUse: async () => new Set([...state.carried.values()].map(({ image }) => image)),
});
