import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';

/** Each reference is its own image, unless `images` says otherwise. */
export function memoryWarmPoolEngine(): WarmPoolEngine & { readonly images: Map<string, string | null> } {
  const images = new Map<string, string | null>();
  return {
    images,
    imageId: async (reference) => {
      const id = images.get(reference);
      return id === undefined ? `id of ${reference}` : id;
    },
  };
}
