import type Docker from 'dockerode';
import { pollUntil } from '../../../concurrency/poll.ts';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import { INSTANCE_LABEL, networkName } from '../../docker/engine/engine-names.ts';
import { BASE_REFERENCE } from '../../docker/images/base-image-recipe.ts';
import { removeFirewall, rulesLeftOn } from '../../docker/network/firewall.ts';
import {
  countOnEngine,
  type EngineLeftovers,
  removeContainers,
  removeNetwork,
} from '../../docker/uninstall/engine-leftovers.ts';
import { listByPrefix } from '../client/long-list.ts';
import { swarmManager } from '../client/manager.ts';
import { hostnameOfNode, type NodeAddresses } from '../client/node-address.ts';
import { engineFault, type Nodes, OtherNode, swarmNodes } from '../client/nodes.ts';
import type { Service, SwarmConfig, SwarmNode } from '../client/objects.ts';
import { NODE_LABEL } from '../containers/names.ts';
import { servicesOf } from '../containers/records.ts';
import { imageIdOn } from '../images/node-images.ts';
import { onHostOf } from '../network/node-host.ts';
import { configName, networkOn } from '../network/node-networks.ts';
import { type NodeEngine, removeBaseImages } from './base-images.ts';

/** A swarm removes what a task had some seconds after its service. */
const IN_USE = { withinMs: 60_000, everyMs: 500 } as const;
const NODES_AT_A_TIME = 4;
const SERVICES_AT_A_TIME = 8;

type SwarmRemoval = {
  /** Throws when a node does not answer: its files would stay. `stays`: in sentences, what a removal does not reach. */
  count(): Promise<EngineLeftovers & { readonly stays: readonly string[] }>;
  /**
   * Removes an installation's services, containers, volumes, records, networks and rules for good. Returns in sentences
   * what could not be removed; throws when a manager or node refuses. It may be repeated.
   */
  remove(): Promise<readonly string[]>;
};

/**
 * What an installation has left in a swarm and on its nodes. `docker`: a manager. `defaultImage`: of its catalogue, with
 * which the rules of nodes were set; null when that is not known.
 */
export function swarmLeftovers(
  docker: Docker,
  addresses: NodeAddresses,
  instanceId: string,
  defaultImage: string | null,
): SwarmRemoval {
  const manager = swarmManager(docker);
  const nodes = swarmNodes(manager, addresses);
  const images = [...(defaultImage === null ? [] : [defaultImage]), BASE_REFERENCE];
  const services = listByPrefix(servicesOf(manager, instanceId));
  const recordsOfNodes = () => manager.configs({ [INSTANCE_LABEL]: instanceId });
  return {
    async count() {
      const { present, former } = await splitNodes(nodes);
      const ofNodes = await Promise.all(
        present.map(async (node) => await countOnEngine(await dockerOf(nodes, node), instanceId)),
      );
      const volumes = ofNodes.reduce((sum, each) => sum + each.volumes, 0);
      const stays = filesLeftOnAbsentNodes(await recordsOfNodes(), present, former);
      return { containers: (await services()).length, volumes, stays };
    },
    async remove() {
      await forEachAtMost(SERVICES_AT_A_TIME, await services(), ({ ID }: Service) =>
        manager.removeService(ID),
      );
      const { present: all, former } = await splitNodes(nodes);
      const left: string[] = [];
      await forEachAtMost(NODES_AT_A_TIME, all, async (node) => {
        const engine = await dockerOf(nodes, node);
        await whenUnused(() => removeContainers(engine, instanceId));
      });
      // The files are gone: now what says on which node they were.
      const records = await recordsOfNodes();
      left.push(...filesLeftOnAbsentNodes(records, all, former));
      for (const { Spec } of records) await manager.removeConfig(Spec.Name);
      await whenUnused(() => removeNetwork(docker, networkName(instanceId)));
      const cleared: NodeEngine[] = [];
      await forEachAtMost(NODES_AT_A_TIME, all, async (node) => {
        const fault = await clearNode(nodes, node, instanceId, images);
        if (fault === null) cleared.push({ name: hostnameOfNode(node), docker: await dockerOf(nodes, node) });
        else left.push(fault);
      });
      return [...left, ...(await removeBaseImages(manager, cleared, instanceId))];
    },
  };
}

type SplitNodes = { readonly present: readonly SwarmNode[]; readonly former: readonly SwarmNode[] };

/**
 * Splits the nodes into present ones, and former entries of machines that rejoined under another id: with the same host
 * name, because an address may have passed to another machine.
 */
async function splitNodes(nodes: Nodes): Promise<SplitNodes> {
  const all = await nodes.list();
  const isFormer = await Promise.all(
    all.map(async (node) => {
      if (node.Status.State !== 'down') return false;
      const fault = await nodes.engineOf(node.ID).catch((error: unknown) => error);
      if (!(fault instanceof OtherNode)) return false;
      return all.some((each) => each.ID === fault.nodeId && hostnameOfNode(each) === hostnameOfNode(node));
    }),
  );
  return { present: all.filter((_, at) => !isFormer[at]), former: all.filter((_, at) => isFormer[at]) };
}

/** Sentences about machines on which files may remain. */
function filesLeftOnAbsentNodes(
  records: readonly SwarmConfig[],
  present: readonly SwarmNode[],
  former: readonly SwarmNode[],
): readonly string[] {
  const recorded = records.flatMap(({ Spec }) => Spec.Labels?.[NODE_LABEL] ?? []);
  const absent = new Set(recorded.filter((id) => !present.some(({ ID }) => ID === id)));
  const isFormer = (id: string): boolean => former.some(({ ID }) => ID === id);
  return [...absent].map((id) =>
    isFormer(id)
      ? `Nothing is removed for the node ${id}, which is down: its machine has joined again as another node.`
      : `Files may be left on the machine of the node ${id}, which is no longer in the Swarm.`,
  );
}

/**
 * Removes rules and network of a node. Returns in a sentence why rules stay, or null. If rules stay, the base image stays
 * too, because it has the tools to remove them. The network also stays: it marks the node for the next removal.
 */
async function clearNode(
  nodes: Nodes,
  node: SwarmNode,
  instanceId: string,
  images: readonly string[],
): Promise<string | null> {
  const engine = await dockerOf(nodes, node);
  const calls = await nodes.engineOf(node.ID);
  const fault = await clearRules(calls, instanceId, images).then(
    () => null,
    (error: unknown) => String(error),
  );
  if (fault === null) {
    await whenUnused(() => removeNetwork(engine, configName(instanceId)));
    return null;
  }
  const rules = rulesLeftOn(hostnameOfNode(node), instanceId, fault);
  return `${rules}. The network ${configName(instanceId)} stays there, too.`;
}

/** By the tools of the first image that the node has. A node without the network has never had rules. */
async function clearRules(
  calls: Awaited<ReturnType<Nodes['engineOf']>>,
  instanceId: string,
  images: readonly string[],
): Promise<void> {
  for (const image of images) {
    if ((await imageIdOn(calls, image)) === null) continue;
    await onHostOf({ calls, instanceId, image }, (run) => removeFirewall(instanceId, run));
    return;
  }
  if ((await networkOn(calls, configName(instanceId))) !== null)
    throw new Error(`the node does not have the image ${images.join(' or ')} with the tools to remove them`);
}

async function dockerOf(nodes: Nodes, node: SwarmNode): Promise<Docker> {
  try {
    return (await nodes.engineOf(node.ID)).docker;
  } catch (cause) {
    const name = `${hostnameOfNode(node)} (${node.ID})`;
    throw new Error(
      `the engine of the node ${name} cannot be used, and may have files of Berth: ${engineFault(cause)}; ${adviceFor(node)}`,
      { cause },
    );
  }
}

function adviceFor({ ID, Status, ManagerStatus }: SwarmNode): string {
  if (Status.State !== 'down') return 'see docs/swarm.md';
  const demote = ManagerStatus === undefined ? '' : `docker node demote ${ID} && `;
  return `start it, or take a machine that is gone for good out of the swarm by ${demote}docker node rm --force ${ID}`;
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
