import { addressOf, probe } from '../../../adapters/docker/engine/engine-probe.ts';
import {
  countOnEngine,
  type EngineLeftovers,
  removeBaseImage,
  removeFromEngine,
} from '../../../adapters/docker/uninstall/engine-leftovers.ts';
import { externalEngine } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import { managerAt } from '../../../adapters/swarm/client/manager-address.ts';
import { swarmLeftovers } from '../../../adapters/swarm/uninstall/swarm-leftovers.ts';
import type { Config } from '../config.ts';

/** An engine that Berth did not start, with what it has of an installation. */
export type UsedEngine = {
  /** For the list of what is removed: `the engine`. */
  readonly name: string;
  readonly leftovers: EngineLeftovers;
  /** Returns in sentences what could not be removed. */
  remove(): Promise<readonly string[]>;
};

/**
 * Null with a private engine or Kubernetes: nothing to remove there. Throws when the engine or a node does not answer.
 */
export async function usedEngine(config: Config, instanceId: string): Promise<UsedEngine | null> {
  if (config.engine === 'swarm') return await usedSwarm(config, instanceId);
  const endpoint = config.dockerHost ?? (await externalEngine(config.dataDir));
  if (endpoint === null) return null;
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers)
    throw new Error(
      `the engine at ${endpoint} has containers and volumes of Berth, but does not answer: start it`,
    );
  const { docker } = answer;
  return {
    name: 'the engine',
    leftovers: await countOnEngine(docker, instanceId),
    async remove() {
      await removeFromEngine(docker, instanceId);
      await removeBaseImage(docker);
      return [];
    },
  };
}

async function usedSwarm({ dockerHost, swarm }: Config, instanceId: string): Promise<UsedEngine> {
  const { docker } = managerAt(dockerHost, swarm.certPath);
  const { count, remove } = swarmLeftovers(docker, swarm, instanceId);
  return { name: 'the Swarm, on all nodes', leftovers: await count(), remove };
}
