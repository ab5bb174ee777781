import type Docker from 'dockerode';
import { ENGINE_RETRY_SECONDS } from '../../../domain/fair-queue.ts';
import {
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
import type { SwarmNode } from './objects.ts';

/** Where the engines of a swarm's nodes answer. */
export type NodeAddresses = {
  /** With `{addr}`, `{hostname}` or `{id}` of a node. */
  readonly template: string;
  /** Of single nodes, by id or host name. */
  readonly byNode: Readonly<Record<string, string>>;
  /** A folder with `ca.pem`, `cert.pem` and `key.pem`; null without certificates. */
  readonly certPath: string | null;
};

/** A list younger than this is not asked for again. */
const FRESH_MS = 1_000;

/** The node of a container was taken out of the swarm, by its administrator. */
export class NodeRemoved extends RuntimeFailure {
  override name = 'NodeRemoved';
}

/** The node of a container does not act. `cause`: for the log. */
export const nodeSilent = (cause: unknown): RuntimeBusy =>
  new RuntimeBusy('container_unresponsive', ENGINE_RETRY_SECONDS, { cause });

/** Whether a node does not act, in contrast to a refusal. */
export const isSilent = (error: unknown): error is RuntimeBusy =>
  error instanceof RuntimeBusy && error.code === 'container_unresponsive';

export const hostnameOfNode = ({ Description, ID }: SwarmNode): string => Description.Hostname ?? ID;

/** Whether the swarm starts tasks on it. */
export const isReady = ({ Status, Spec }: SwarmNode): boolean =>
  Status.State === 'ready' && Spec.Availability === 'active';

const architectureOf = ({ Description }: SwarmNode): string => Description.Platform?.Architecture ?? '';

export type Nodes = ReturnType<typeof swarmNodes>;

/** The nodes of a swarm, and the engine of each, which alone runs programs in its containers. */
export function swarmNodes(manager: Manager, addresses: NodeAddresses) {
  const engines = new Map<string, Promise<EngineCalls>>();
  const usedUrls = new Map<string, string>();
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

  async function connect(nodeId: string): Promise<EngineCalls> {
    // Behind another address may be another manager tomorrow.
    if (manager.isLocal && (await manager.ownNodeId()) === nodeId) return manager.calls;
    const node = await require(nodeId);
    usedUrls.set(nodeId, urlOf(node, addresses));
    const docker = clientOf(node, addresses);
    const calls = engineCalls(docker);
    const found = await calls.read(LIMITS.inspect, (signal) => nodeIdOf(docker, signal));
    if (found === nodeId) return calls;
    throw new RuntimeFailure(`the engine at the address of the node ${nodeId} is of the node ${found}`);
  }

  /** The engine of a node. Throws `RuntimeBusy` when it does not answer, and `NodeRemoved`. */
  async function engineOf(nodeId: string): Promise<EngineCalls> {
    const known = engines.get(nodeId) ?? connect(nodeId);
    engines.set(nodeId, known);
    return await onNode(known).catch((error: unknown) => {
      if (engines.get(nodeId) === known) engines.delete(nodeId);
      throw error;
    });
  }

  /** Whether a node has processors like the manager's, on which the base image and its tools are made. */
  async function fits(node: SwarmNode): Promise<boolean> {
    const all = await list();
    if (new Set(all.map(architectureOf)).size < 2) return true;
    const managerId = await manager.ownNodeId();
    return all.some((each) => each.ID === managerId && architectureOf(each) === architectureOf(node));
  }

  return {
    list,
    require,
    engineOf,
    fits,
    /** Those on which Berth may start containers. */
    async inUse(): Promise<readonly SwarmNode[]> {
      const ready = (await list()).filter(isReady);
      const fitting = await Promise.all(ready.map(fits));
      return ready.filter((_, at) => fitting[at]);
    },
    /** Forgets the engines of nodes that have gone, or have another address now. Returns the nodes. */
    async refresh(): Promise<readonly SwarmNode[]> {
      const present = await list();
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

/** The address of a node's engine. */
export function urlOf(
  node: SwarmNode,
  { template, byNode }: Pick<NodeAddresses, 'template' | 'byNode'>,
): string {
  const values = { addr: node.Status.Addr ?? '', hostname: hostnameOfNode(node), id: node.ID };
  const given = byNode[node.ID] ?? byNode[values.hostname];
  return (
    given ??
    template.replaceAll(/\{(addr|hostname|id)\}/g, (_, key: string) => values[key as keyof typeof values])
  );
}
