import { quotaOf } from '../../../domain/containers/disk-quota.ts';
import type { ContainerDisk } from '../../../ports/containers/container-disk.ts';
import { nullWhenStopped, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { inspect } from '../../docker/containers/create-container.ts';
import { dockerPrograms } from '../../docker/exec/container-programs.ts';
import { layerUse } from '../../docker/insight/layer-usage.ts';
import { diskBytes } from '../../scripts/insight/disk-usage.ts';
import type { Swarm } from '../swarm.ts';

/** Volumes on the nodes of a swarm. The space of the nodes is for their administrator to watch. */
export const swarmDisk = ({ volumes, records, locator, settings }: Swarm): ContainerDisk => ({
  diskQuota: quotaOf(settings.disk.mode),
  volumeExists: async (volume) => (await volumes.facts(volume)) !== null,
  volumeFacts: volumes.facts,
  async usedBytes(volume, reader) {
    const { running, withinSeconds } = reader;
    if (running === null) return await volumes.usedBytes(volume, reader);
    return await locator.inside(running.runtimeId, ({ calls, containerId }) =>
      diskBytes(dockerPrograms(calls), containerId, withinSeconds),
    );
  },
  async removeVolume(volume) {
    if (await records.useVolume(volume)) throw new RuntimeFailure(`volume ${volume} has a container`);
    await volumes.remove(volume);
  },
  // A stopped container has nothing outside its volume.
  async layerUse({ runtimeId }, image) {
    const measuring = locator.inside(runtimeId, async ({ calls, containerId }) => {
      const info = await inspect(calls, containerId);
      return info === null ? null : await layerUse(calls, info, image, false);
    });
    return await measuring.catch(nullWhenStopped);
  },
  hostSpace: async () => [],
});
