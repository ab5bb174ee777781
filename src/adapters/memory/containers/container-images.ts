import type {
  CapturedImage,
  ContainerSnapshots,
  NamedImage,
  WarmPoolEngine,
} from '../../../ports/containers/container-images.ts';
import { ContainerNotRunning } from '../../../ports/containers/container-runtime.ts';

/** Containers by runtime id. */
type Made = ReadonlyMap<string, { readonly spec: { readonly image: string } }>;

/** Captured `images` by reference. */
export const memorySnapshots = (images: Map<string, CapturedImage>, boxes: Made): ContainerSnapshots => ({
  async capture({ runtimeId }, { dbId, generation, operationId, snapshotId }) {
    if (!boxes.has(runtimeId)) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
    const reference =
      snapshotId === undefined ? `carried-${dbId}:g${generation}` : `snapshot-${snapshotId}:layer`;
    const of = snapshotId ?? dbId;
    images.set(reference, { imageId: `${reference} ${operationId}`, reference, dbId: of });
    return reference;
  },
  layerImages: async () => [...images.values()],
  async removeCaptured({ reference }) {
    const used = [...boxes.values()].some(({ spec }) => spec.image === reference);
    if (reference !== null && !used) images.delete(reference);
  },
});

/** Each reference is its own image, unless `images` says otherwise. */
export function memoryWarmPoolEngine(): WarmPoolEngine & { readonly images: Map<string, NamedImage | null> } {
  const images = new Map<string, NamedImage | null>();
  return {
    images,
    namedImage: async (reference) => {
      const image = images.get(reference);
      return image === undefined ? { id: `id of ${reference}`, isOlder: false } : image;
    },
  };
}
