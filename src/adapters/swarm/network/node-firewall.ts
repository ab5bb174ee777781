import { isIPv4 } from 'node:net';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import { within } from '../../../concurrency/timeout.ts';
import { isContainerUnresponsive, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { bridgeName, chainName } from '../../docker/engine/engine-names.ts';
import type { Run } from '../../docker/host/host-commands.ts';
import { applyFirewall } from '../../docker/network/firewall.ts';
import { changedRules, neededOpenings, resolverOpenings } from '../../docker/network/firewall-rules.ts';
import { configuredResolvers, ownAddresses } from '../../docker/network/host-network.ts';
import { isWithin } from '../../docker/network/subnet.ts';
import { INTERNAL_NETWORKS } from '../../internal-networks.ts';
import type { Manager } from '../client/manager.ts';
import { hostnameOfNode } from '../client/node-address.ts';
import { type Nodes, onNode } from '../client/nodes.ts';
import { type SwarmNode, versionOf } from '../client/objects.ts';
import { ensureImage } from '../images/node-images.ts';
import { onHostOf } from './node-host.ts';
import type { NodeNetworks } from './node-networks.ts';

const AT_A_TIME = 4;
/** Of one node: others do not wait longer for it. */
const NODE_MS = 120_000;

export type NodeFirewalls = {
  /**
   * Sets the rules on all nodes that may have containers, the same as on a single machine, and returns what was changed
   * from outside since the last time. Throws when a node refuses, after the others have them.
   */
  assertAll(): Promise<readonly string[]>;
  /**
   * Sets the rules of a node before a container starts there, once for each time that its engine joins the swarm. Throws
   * when they cannot be set: no container starts without them.
   */
  readyOn(nodeId: string): Promise<void>;
};

type Deps = { readonly manager: Manager; readonly nodes: Nodes; readonly networks: NodeNetworks };
/** The image has the tools to work on a node; without it no rules are set. */
type FirewallSettings = { readonly instanceId: string; readonly toolsImage: string | null };

export function nodeFirewalls(deps: Deps, settings: FirewallSettings): NodeFirewalls {
  const { nodes } = deps;
  const set = ruleSetter(deps, settings);
  /** By node: its version when the rules were set. */
  const readyAt = new Map<string, number>();
  const setting = new Map<string, Promise<unknown>>();

  async function assert(node: SwarmNode): Promise<readonly string[]> {
    readyAt.delete(node.ID);
    const changed = await within(NODE_MS, set(node), null);
    if (changed === null) throw new RuntimeFailure(`not done within ${NODE_MS / 1000} s`);
    readyAt.set(node.ID, versionOf(node));
    return changed;
  }

  return {
    async assertAll() {
      const changed: string[] = [];
      const faults: Error[] = [];
      await forEachAtMost(AT_A_TIME, await nodes.mayHaveContainers(), async (node) => {
        const name = hostnameOfNode(node);
        try {
          changed.push(...(await assert(node)).map((rule) => `${name}: ${rule}`));
        } catch (error) {
          // Its administrator knows of it by the health of the swarm, and `readyOn` sets its rules when it is back.
          if (isContainerUnresponsive(error)) return;
          faults.push(new Error(`node ${name}: ${String(error)}`, { cause: error }));
        }
      });
      if (faults.length > 0)
        throw new AggregateError(faults, faults.map(({ message }) => message).join('; '));
      return changed;
    },
    async readyOn(nodeId) {
      const node = await nodes.require(nodeId);
      if (readyAt.get(nodeId) === versionOf(node)) return;
      const present = setting.get(nodeId) ?? assert(node).finally(() => setting.delete(nodeId));
      setting.set(nodeId, present);
      await present.catch((cause: unknown) => {
        if (isContainerUnresponsive(cause)) throw cause;
        const words = `the packet filter of node ${hostnameOfNode(node)} is not set: ${String(cause)}`;
        throw new RuntimeFailure(words, { cause });
      });
    },
  };
}

/**
 * Sets the rules of a node, and returns what was changed from outside since the last time. The first pass returns
 * nothing: there is no earlier state to compare with.
 */
function ruleSetter({ manager, nodes, networks }: Deps, { instanceId, toolsImage: image }: FirewallSettings) {
  const lastRules = new Map<string, readonly string[]>();
  return async ({ ID }: SwarmNode): Promise<readonly string[]> => {
    if (image === null) return [];
    const calls = await nodes.engineOf(ID);
    await networks.repairOn(ID);
    const subnet = await onNode(networks.subnetOn(calls));
    if (subnet === null) return [];
    await onNode(ensureImage(calls, image, manager.calls));
    const closed = (await nodes.list()).flatMap(publicAddressesOf);
    const { before, after } = await onNode(applied(calls, { instanceId, image, subnet, closed }));
    const last = lastRules.get(ID);
    lastRules.set(ID, after);
    return last === undefined ? [] : changedRules(last, before);
  };
}

/** Other nodes trust a node, whose address its containers have towards them. */
const publicAddressesOf = ({ Status, ManagerStatus }: SwarmNode): readonly string[] =>
  [...new Set([Status.Addr, ManagerStatus?.Addr?.split(':')[0]])].filter(
    (address) =>
      address !== undefined &&
      isIPv4(address) &&
      address !== '0.0.0.0' &&
      !isWithin(address, INTERNAL_NETWORKS),
  ) as readonly string[];

type Given = {
  readonly instanceId: string;
  readonly image: string;
  readonly subnet: string;
  /** Addresses of nodes. */
  readonly closed: readonly string[];
};

const applied = (calls: EngineCalls, { instanceId, image, subnet, closed }: Given) =>
  onHostOf({ calls, instanceId, image }, async (run) => {
    const plan = {
      chain: chainName(instanceId),
      bridge: bridgeName(instanceId),
      subnet,
      closed,
      openings: await openingsOf(run),
      isRouter: false,
    };
    return await applyFirewall(plan, run);
  });

/** The resolvers of the node, which its containers ask. */
const openingsOf = async (run: Run) =>
  neededOpenings(resolverOpenings(await configuredResolvers(run)), await ownAddresses(run));
