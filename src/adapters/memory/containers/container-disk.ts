import type { HostSpace, Quota } from '../../../domain/containers/disk-quota.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { Folder } from './inside/file-tree.ts';

export type MemoryVolume = {
  quota: Quota;
  usedBytes: number | null;
  isResizable: boolean;
  files?: Folder;
};

export type MemoryDisk = {
  readonly volumes: Map<string, MemoryVolume>;
  /** Bytes outside the volume, by runtime id. */
  readonly layers: Map<string, number>;
  /** The result of `hostSpace`. */
  readonly host: { spaces: readonly HostSpace[] };
};

/** Containers by runtime id. */
type Mounting = ReadonlyMap<string, { readonly spec: { readonly volume: string } }>;

export const memoryDisk = ({ volumes, layers, host }: MemoryDisk, boxes: Mounting): ContainerDisk => ({
  diskQuota: 'soft',
  volumeExists: async (volume) => volumes.has(volume),
  volumeFacts: async (volume) => volumes.get(volume) ?? null,
  usedBytes: async (volume) => volumes.get(volume)?.usedBytes ?? null,
  async removeVolume(volume) {
    if ([...boxes.values()].some(({ spec }) => spec.volume === volume))
      throw new RuntimeFailure(`volume ${volume} is in use`);
    volumes.delete(volume);
  },
  layerUse: async ({ runtimeId }) =>
    boxes.has(runtimeId) ? { ownBytes: layers.get(runtimeId) ?? 0, layerImageBytes: 0 } : null,
  hostSpace: async () => host.spaces,
});
