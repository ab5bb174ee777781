import type { Quota } from '../../../domain/containers/disk-quota.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { Records } from '../containers/records.ts';
import type { Claims } from './claims.ts';

export type DiskSettings = {
  /** Whether the storage class gives each volume a size of its own. */
  readonly quota: Quota;
  /** Bytes used at `/workspace` of a running container. */
  readonly measure: (handle: RuntimeHandle, withinSeconds?: number) => Promise<number | null>;
};

/**
 * Volumes of a cluster. Only a running container's can be measured. Space of the nodes, and of what a container has
 * outside its volume, is the cluster's to watch.
 */
export const clusterDisk = (claims: Claims, records: Records, disk: DiskSettings): ContainerDisk => ({
  diskQuota: disk.quota,
  volumeExists: async (volume) => (await claims.find(volume)) !== null,
  async volumeFacts(volume, diskMb) {
    if ((await claims.find(volume)) === null) return null;
    // Its size limits nothing where Berth only measures the use.
    if (disk.quota === 'soft' || diskMb === undefined) return { quota: disk.quota, isResizable: true };
    const minMb = await claims.sizeMb(volume);
    const isGrowth = minMb !== null && diskMb > minMb;
    const isResizable = !isGrowth || (await claims.canGrow(volume, diskMb));
    return { quota: disk.quota, isResizable, ...(minMb === null ? {} : { minMb: Math.floor(minMb) }) };
  },
  async usedBytes(volume, { running, withinSeconds }) {
    if ((await claims.find(volume)) === null || running === null) return null;
    return await disk.measure(running, withinSeconds);
  },
  async removeVolume(volume) {
    if (await records.useVolume(volume)) throw new RuntimeFailure(`volume ${volume} has a container`);
    await claims.remove(volume);
  },
  layerUse: async () => null,
  hostSpace: async () => [],
});
