import type { SnapshotImageRepository } from '../../../../ports/containers/retention/carried-image-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

export const memoryCarriedImages = (state: MemoryState): SnapshotImageRepository => ({
  find: async (dbId) => state.snapshotImages.get(dbId) ?? null,
  async put(dbId, carried) {
    if (carried === null) state.snapshotImages.delete(dbId);
    else state.snapshotImages.set(dbId, carried);
  },
  findDeleted: async (ownerId) =>
    new Set(
      state.containers
        .filter((one) => one.ownerId === ownerId && one.state === 'deleted')
        .map(({ dbId }) => dbId)
        .filter((dbId) => state.snapshotImages.has(dbId)),
    ),
  inUse: async () => new Set([...state.snapshotImages.values()].map(({ image }) => image)),
});
