import type Docker from 'dockerode';
import { pollUntil } from '../../../concurrency/poll.ts';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import { chainName, INSTANCE_LABEL, networkName } from '../../docker/engine/engine-names.ts';
import { BASE_REFERENCE } from '../../docker/images/base-image-recipe.ts';
import { removeFirewall } from '../../docker/network/firewall.ts';
import {
  countOnEngine,
  type EngineLeftovers,
  removeBaseImage,
  removeContainers,
  removeNetwork,
} from '../../docker/uninstall/engine-leftovers.ts';
import { longList } from '../client/long-list.ts';
import { swarmManager } from '../client/manager.ts';
import { hostnameOfNode, type NodeAddresses, type Nodes, swarmNodes } from '../client/nodes.ts';
import type { Service, SwarmNode } from '../client/objects.ts';
import { SERVICE_PREFIX } from '../containers/names.ts';
import { imageIdOn } from '../images/node-images.ts';
import { onHostOf } from '../network/node-host.ts';
import { configName } from '../network/node-networks.ts';

/** A swarm removes what a task had some seconds after its service. */
const IN_USE = { withinMs: 60_000, everyMs: 500 } as const;
const NODES_AT_A_TIME = 4;
const SERVICES_AT_A_TIME = 8;

type SwarmRemoval = {
  /** Throws when a node does not answer: its files would stay. */
  count(): Promise<EngineLeftovers>;
  /**
   * Removes an installation's services, containers, volumes, records, networks and rules for good. Returns in sentences
   * what could not be removed; throws when a manager or node refuses. It may be repeated.
   */
  remove(): Promise<readonly string[]>;
};

/** What an installation has left in a swarm and on its nodes. `docker`: a manager. */
export function swarmLeftovers(docker: Docker, addresses: NodeAddresses, instanceId: string): SwarmRemoval {
  const manager = swarmManager(docker);
  const nodes = swarmNodes(manager, addresses);
  const services = longList((digits) =>
    manager.services({ [INSTANCE_LABEL]: instanceId }, SERVICE_PREFIX + digits),
  );
  return {
    async count() {
      const ofNodes = await Promise.all(
        (await nodes.list()).map(
          async (node) => await countOnEngine(await engineOf(nodes, node), instanceId),
        ),
      );
      const volumes = ofNodes.reduce((sum, each) => sum + each.volumes, 0);
      return { containers: (await services()).length, volumes };
    },
    async remove() {
      await forEachAtMost(SERVICES_AT_A_TIME, await services(), ({ ID }: Service) =>
        manager.removeService(ID),
      );
      const all = await nodes.list();
      const left: string[] = [];
      await forEachAtMost(NODES_AT_A_TIME, all, async (node) => {
        const engine = await engineOf(nodes, node);
        await whenUnused(() => removeContainers(engine, instanceId));
      });
      // The files are gone: now what says on which node they were.
      for (const { Spec } of await manager.configs({ [INSTANCE_LABEL]: instanceId }))
        await manager.removeConfig(Spec.Name);
      await whenUnused(() => removeNetwork(docker, networkName(instanceId)));
      await forEachAtMost(NODES_AT_A_TIME, all, async (node) => {
        left.push(...(await clearNode(nodes, node, instanceId)));
      });
      return left;
    },
  };
}

/** Removes network, rules and base image of a node. */
async function clearNode(nodes: Nodes, node: SwarmNode, instanceId: string): Promise<readonly string[]> {
  const engine = await engineOf(nodes, node);
  await whenUnused(() => removeNetwork(engine, configName(instanceId)));
  const calls = await nodes.engineOf(node.ID);
  const name = hostnameOfNode(node);
  const left = await clearRules(calls, instanceId).then(
    () => [],
    (error: unknown) => [
      `Packet filter rules stay on ${name}, in chains named ${chainName(instanceId)}: ${String(error)}`,
    ],
  );
  await removeBaseImage(engine);
  return left;
}

/** By the tools of the base image, without which no rules are set. */
async function clearRules(calls: Awaited<ReturnType<Nodes['engineOf']>>, instanceId: string): Promise<void> {
  if ((await imageIdOn(calls, BASE_REFERENCE)) === null) return;
  await onHostOf({ calls, instanceId, image: BASE_REFERENCE }, (run) => removeFirewall(instanceId, run));
}

async function engineOf(nodes: Nodes, node: SwarmNode): Promise<Docker> {
  try {
    return (await nodes.engineOf(node.ID)).docker;
  } catch (cause) {
    const name = hostnameOfNode(node);
    throw new Error(
      `the engine of the node ${name} does not answer, and may have files of Berth: start it, or take it out of the swarm by docker node rm --force ${name}`,
      { cause },
    );
  }
}

/** Repeats a removal until what is removed is in use no more; throws the refusal that lasts. */
async function whenUnused(remove: () => Promise<void>): Promise<void> {
  let refusal: unknown = null;
  const isDone = await pollUntil(
    () =>
      remove().then(
        () => true,
        (error: unknown) => {
          refusal = error;
          return false;
        },
      ),
    IN_USE,
  );
  if (!isDone) throw refusal;
}
