import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';

/** A reference stands for its image: each node gets it when its first container needs it. */
export const swarmWarmPool: WarmPoolEngine = { imageId: async (reference) => reference };
