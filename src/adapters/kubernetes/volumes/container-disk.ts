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
  readonly measure: (handle: RuntimeHandle) => Promise<number | null>;
};

/**
 * Volumes of a cluster. Only a running container's can be measured. Space of the nodes, and of what a container has
 * outside its volume, is the cluster's to watch.
 */
export const clusterDisk = (claims: Claims, records: Records, disk: DiskSettings): ContainerDisk => ({
  diskQuota: disk.quota,
  volumeExists: async (volume) => (await claims.find(volume)) !== null,
  volumeFacts: async (volume) =>
    (await claims.find(volume)) === null ? null : { quota: disk.quota, isResizable: true },
  async usedBytes(volume, { running }) {
    if ((await claims.find(volume)) === null || running === null) return null;
    return await disk.measure(running);
  },
  async removeVolume(volume) {
    if (await records.useVolume(volume)) throw new RuntimeFailure(`volume ${volume} has a container`);
    await claims.remove(volume);
  },
  layerUse: async () => null,
  hostSpace: async () => [],
});
