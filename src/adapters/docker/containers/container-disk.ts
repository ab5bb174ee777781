import { quotaOf } from '../../../domain/containers/disk-quota.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { fullId } from '../engine/ownership.ts';
import { layerUse } from '../insight/layer-usage.ts';
import type { DiskSettings, Volumes } from '../volumes/container-volumes.ts';
import { hostSpace } from '../volumes/volume-usage.ts';
import { inspect } from './create-container.ts';

/** Volumes on one Docker engine, and its disk. */
export const dockerDisk = (calls: EngineCalls, volumes: Volumes, disk: DiskSettings): ContainerDisk => ({
  diskQuota: quotaOf(disk.mode),
  volumeExists: async (volume) => (await volumes.facts(volume)) !== null,
  volumeFacts: volumes.facts,
  usedBytes: volumes.usedBytes,
  removeVolume: volumes.remove,
  async layerUse({ runtimeId }, image) {
    const info = await inspect(calls, fullId(runtimeId));
    return info === null ? null : await layerUse(calls, info, image, disk.isLocal);
  },
  hostSpace: () => hostSpace(disk.folders),
});
