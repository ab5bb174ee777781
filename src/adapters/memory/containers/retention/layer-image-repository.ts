import type { LayerImageRepository } from '../../../../ports/containers/retention/layer-image-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

export const memoryLayerImages = (state: MemoryState): LayerImageRepository => ({
  find: async (dbId) => state.layerImages.get(dbId) ?? null,
  async put(dbId, carried) {
    if (carried === null) state.layerImages.delete(dbId);
    else state.layerImages.set(dbId, carried);
  },
  findDeleted: async (ownerId) =>
    new Set(
      state.containers
        .filter((one) => one.ownerId === ownerId && one.state === 'deleted')
        .map(({ dbId }) => dbId)
        .filter((dbId) => state.layerImages.has(dbId)),
    ),
  inUse: async () => new Set([...state.layerImages.values()].map(({ image }) => image)),
});
