import type { EngineCapabilities } from '../../../domain/containers/engine-capabilities.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { ContainerRuntime } from '../../../ports/containers/container-runtime.ts';
import { withoutSnapshots } from '../../without-snapshots.ts';
import { onNode } from '../client/nodes.ts';
import type { Swarm } from '../swarm.ts';
import { swarmDisk } from '../volumes/container-disk.ts';
import { holdVolume } from '../volumes/volume-holder.ts';
import { swarmObserver } from './container-observer.ts';
import { createService } from './create-service.ts';
import { containersOnNodes } from './node-containers.ts';
import { offerOf } from './node-offer.ts';
import { StaleNetwork } from './services.ts';
import { startChecks } from './start-checks.ts';

/** Containers as services of one swarm, with all that belongs to them. */
export function swarmRuntime(swarm: Swarm): ContainerEngine {
  return {
    capabilities: SWARM_CAPABILITIES,
    ...lifecycle(swarm),
    ...swarmObserver(swarm),
    ...swarmDisk(swarm),
    // An image would be on one node alone.
    ...withoutSnapshots('a swarm'),
  };
}

/** Each start makes a new container: only its volume stays. */
export const SWARM_CAPABILITIES: EngineCapabilities = {
  keepsLayer: false,
  takesSnapshots: false,
  measuresDisk: true,
  hasRoot: true,
};

function lifecycle(swarm: Swarm): ContainerRuntime {
  const { manager, nodes, records, services, volumes, firewalls, locator, staleNetworks, settings } = swarm;
  const { node } = settings;
  const onNodes = containersOnNodes(swarm);
  const checks = startChecks(swarm);
  return {
    create: async (spec) => ({ node, runtimeId: await createService(swarm, spec) }),
    async start({ runtimeId }) {
      const record = await records.require(runtimeId);
      const cpuMillicores = await checks.requireReady(record);
      await volumes.require(record.volume, record.nodeId);
      await firewalls.readyOn(record.nodeId);
      await checks.requireAlone(record);
      locator.forget(runtimeId);
      const offer = await offerOf(swarm, record, cpuMillicores);
      await onNode(holdVolume(await nodes.engineOf(record.nodeId), record.service.Spec, offer.imageId));
      const task = await services.start(record, offer).catch(async (error: unknown) => {
        // The start's own error matters more.
        if (error instanceof StaleNetwork) await staleNetworks.note(record.nodeId).catch(() => {});
        throw error;
      });
      staleNetworks.forget(record.nodeId);
      await onNodes.confine(record, task, cpuMillicores).catch(async (error: unknown) => {
        await services.end(record);
        throw error;
      });
    },
    async stop({ runtimeId }, graceSeconds) {
      const record = await records.find(runtimeId);
      if (record === null) return 'gone';
      await onNodes.stop(record, graceSeconds);
      await services.end(record);
      locator.forget(runtimeId);
      return 'stopped';
    },
    // Recorded first: the next task has the new limits, even when this one cannot get them.
    async resize({ runtimeId }, resources) {
      const record = await records.require(runtimeId);
      await records.resize(record, resources);
      await onNodes.resize(record, resources);
    },
    async remove({ runtimeId }) {
      const record = await records.find(runtimeId);
      if (record === null) return;
      await onNodes.remove(record);
      await manager.removeService(record.name);
      // The swarm may have made another container until then.
      await onNodes.remove(record);
      locator.forget(runtimeId);
    },
    async claim({ runtimeId }) {
      const record = await records.find(runtimeId);
      return record !== null && (await records.claim(record));
    },
    endHung: async () => false,
  };
}
