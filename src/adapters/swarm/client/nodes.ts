import type Docker from 'dockerode';
import { isMadeHere } from '../../../domain/containers/catalogue.ts';
import {
  isContainerUnresponsive,
  NodeInMaintenance,
  nodeSilent,
  OutcomeUnknown,
  RuntimeBusy,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import {
  dockerAt,
  type EngineCalls,
  engineCalls,
  engineInfo,
  LIMITS,
} from '../../docker/engine/engine-client.ts';
import { addressOf } from '../../docker/engine/engine-probe.ts';
import type { Manager } from './manager.ts';
import { hostnameOfNode, type NodeAddresses, urlOf } from './node-address.ts';
import type { SwarmNode } from './objects.ts';

/** A list younger than this is not asked for again. */
const FRESH_MS = 1_000;

/** The node of a container was taken out of the swarm, by its administrator. */
export class NodeRemoved extends RuntimeFailure {
  override name = 'NodeRemoved';
}

/** At the address of a node is another one. */
export class OtherNode extends RuntimeFailure {
  override name = 'OtherNode';
  /** The one that answers. */
  readonly nodeId: string | undefined;
  constructor(of: string, nodeId: string | undefined) {
    super(`the engine at the address of the node ${of} is of the node ${nodeId}`);
    this.nodeId = nodeId;
  }
}

/** Why the engine of a node cannot be used. */
export const engineFault = (error: unknown): string =>
  (isContainerUnresponsive(error) && error.cause instanceof Error ? error.cause : (error as Error)).message;

/** Whether the swarm starts tasks on it. */
export const acceptsTasks = ({ Status, Spec }: SwarmNode): boolean =>
  Status.State === 'ready' && Spec.Availability === 'active';

const architectureOf = ({ Description }: SwarmNode): string => Description.Platform?.Architecture ?? '';

export type Nodes = ReturnType<typeof swarmNodes>;

/**
 * The nodes of a swarm, and the engine of each, which alone runs programs in its containers. `toolsImage`: the image
 * whose tools Berth runs on each node; null for none.
 */
export function swarmNodes(manager: Manager, addresses: NodeAddresses, toolsImage: string | null = null) {
  const nodes = nodeList(manager);
  return { ...nodes, ...nodeEngines(manager, nodes, addresses), ...nodeChoice(manager, nodes, toolsImage) };
}

type NodeList = ReturnType<typeof nodeList>;

function nodeList(manager: Manager) {
  let listed: { readonly atMs: number; readonly nodes: Promise<readonly SwarmNode[]> } | null = null;

  /** At most a second old. */
  async function list(): Promise<readonly SwarmNode[]> {
    if (listed === null || performance.now() - listed.atMs > FRESH_MS) {
      listed = { atMs: performance.now(), nodes: manager.nodes() };
      listed.nodes.catch(() => {
        listed = null;
      });
    }
    return await listed.nodes;
  }

  async function require(nodeId: string): Promise<SwarmNode> {
    const found = (await list()).find(({ ID }) => ID === nodeId);
    if (found === undefined) throw new NodeRemoved(`the node ${nodeId} is no longer in the swarm`);
    return found;
  }

  return {
    list,
    /** Throws `NodeRemoved`. */
    require,
    /** Like `require`, from a new list. */
    requireNow(nodeId: string): Promise<SwarmNode> {
      listed = null;
      return require(nodeId);
    },
  };
}

/** The connections to the engines of nodes, each made once. */
function nodeEngines(manager: Manager, nodes: NodeList, addresses: NodeAddresses) {
  const engines = new Map<string, Promise<EngineCalls>>();
  const usedUrls = new Map<string, string>();

  async function connect(nodeId: string): Promise<EngineCalls> {
    // A TCP address may lead to another manager later.
    if (manager.isLocal && (await manager.ownNodeId()) === nodeId) return manager.calls;
    const node = await nodes.require(nodeId);
    usedUrls.set(nodeId, urlOf(node, addresses));
    const docker = clientOf(node, addresses);
    const calls = engineCalls(docker);
    const found = await calls.read(LIMITS.inspect, (signal) => nodeIdOf(docker, signal));
    if (found === nodeId) return calls;
    throw new OtherNode(nodeId, found);
  }

  return {
    /** The engine of a node. Throws `RuntimeBusy` when it does not answer, and `NodeRemoved`. */
    async engineOf(nodeId: string): Promise<EngineCalls> {
      const known = engines.get(nodeId) ?? connect(nodeId);
      engines.set(nodeId, known);
      return await onNode(known).catch((error: unknown) => {
        if (engines.get(nodeId) === known) engines.delete(nodeId);
        throw error;
      });
    },
    /** Forgets the engines of nodes that have gone, or have another address now. Returns the nodes. */
    async refresh(): Promise<readonly SwarmNode[]> {
      const present = await nodes.list();
      const urls = new Map(present.map((node) => [node.ID, urlOf(node, addresses)]));
      for (const [id, url] of usedUrls) {
        if (urls.get(id) === url) continue;
        engines.delete(id);
        usedUrls.delete(id);
      }
      return present;
    },
    /** The engines that have answered so far. */
    async known(): Promise<ReadonlySet<EngineCalls>> {
      const answered = await Promise.all([...engines.values()].map((calls) => calls.catch(() => null)));
      return new Set(answered.filter((calls) => calls !== null));
    },
  };
}

/** Which nodes may have a container. */
function nodeChoice(manager: Manager, nodes: NodeList, toolsImage: string | null) {
  /**
   * Returns a filter of nodes that can run the base image: those of the manager's architecture, where it is made. Of a
   * registry's image each node pulls its own variant.
   */
  async function platformFilter(): Promise<(node: SwarmNode) => boolean> {
    const all = await nodes.list();
    const isMade = toolsImage !== null && isMadeHere(toolsImage);
    if (!isMade || new Set(all.map(architectureOf)).size < 2) return () => true;
    const managerId = await manager.ownNodeId();
    const ofManager = all.find(({ ID }) => ID === managerId);
    return (node) => ofManager !== undefined && architectureOf(ofManager) === architectureOf(node);
  }

  async function filtered(isWanted: (node: SwarmNode) => boolean): Promise<readonly SwarmNode[]> {
    const fits = await platformFilter();
    return (await nodes.list()).filter((node) => isWanted(node) && fits(node));
  }

  return {
    platformFilter,
    /** Returns a node on which the swarm starts tasks. Throws `RuntimeBusy` when it is away, and `NodeInMaintenance`. */
    async requireReady(nodeId: string): Promise<SwarmNode> {
      // On a node that was drained a moment ago, the swarm would start nothing, and an update would end programs for it.
      const node = await nodes.requireNow(nodeId);
      const { State } = node.Status;
      if (State !== 'ready') throw nodeSilent(new Error(`the node ${nodeId} is ${State}`));
      if (acceptsTasks(node)) return node;
      // The administrator chose it, so the node is not at fault.
      throw new NodeInMaintenance(`the node ${nodeId} takes no tasks: ${node.Spec.Availability}`);
    },
    /** Those on which Berth may start containers. */
    schedulable: (): Promise<readonly SwarmNode[]> => filtered(acceptsTasks),
    /** Those on which containers may run, also while they take no more. */
    mayHaveContainers: (): Promise<readonly SwarmNode[]> =>
      filtered(({ Status, Spec }) => Status.State === 'ready' && Spec.Availability !== 'drain'),
  };
}

/** Work on the engine of one node: its silence says nothing about the swarm. */
export async function onNode<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    const isSilent =
      error instanceof RuntimeUnavailable &&
      !(error instanceof RuntimeBusy) &&
      !(error instanceof OutcomeUnknown);
    throw isSilent ? nodeSilent(error) : error;
  });
}

const nodeIdOf = async (docker: Docker, signal: AbortSignal): Promise<string | undefined> =>
  ((await engineInfo(docker, signal)) as { readonly Swarm?: { readonly NodeID?: string } }).Swarm?.NodeID;

function clientOf(node: SwarmNode, { certPath, ...addresses }: NodeAddresses): Docker {
  const url = urlOf(node, addresses);
  try {
    return dockerAt(addressOf(url, certPath));
  } catch (error) {
    throw new RuntimeFailure(`the engine of the node ${hostnameOfNode(node)}: ${String(error)}`, {
      cause: error,
    });
  }
}
