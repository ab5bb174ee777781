import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { bridgeName, chainName } from '../../docker/engine/engine-names.ts';
import type { Run } from '../../docker/host/host-commands.ts';
import { applyFirewall } from '../../docker/network/firewall.ts';
import { changedRules, neededOpenings, resolverOpenings } from '../../docker/network/firewall-rules.ts';
import { configuredResolvers, ownAddresses } from '../../docker/network/host-network.ts';
import type { Manager } from '../client/manager.ts';
import { hostnameOfNode, isReady, isSilent, type Nodes, onNode } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';
import { ensureImage } from '../images/node-images.ts';
import { onHostOf } from './node-host.ts';
import type { NodeNetworks } from './node-networks.ts';

const AT_A_TIME = 4;

export type NodeFirewalls = {
  /**
   * Sets the rules on all ready nodes, the same as on a single machine, and returns what was changed from outside since
   * the last time. Throws when a node refuses, after the others have them.
   */
  assertAll(): Promise<readonly string[]>;
  /** Sets the rules of one node before its first container, once. A refusal is for `assertAll` to report. */
  readyOn(nodeId: string): Promise<void>;
};

type Deps = { readonly manager: Manager; readonly nodes: Nodes; readonly networks: NodeNetworks };
/** The image has the tools to work on a node; without it no rules are set. */
type FirewallSettings = { readonly instanceId: string; readonly toolsImage: string | null };

export function nodeFirewalls(
  { manager, nodes, networks }: Deps,
  { instanceId, toolsImage: image }: FirewallSettings,
): NodeFirewalls {
  const kept = new Map<string, readonly string[]>();
  const first = new Map<string, Promise<unknown>>();

  async function assert({ ID }: Pick<SwarmNode, 'ID'>): Promise<readonly string[]> {
    if (image === null) return [];
    const calls = await nodes.engineOf(ID);
    await networks.repairOn(ID);
    const subnet = await onNode(networks.subnetOn(calls));
    if (subnet === null) return [];
    await onNode(ensureImage(calls, image, manager.calls));
    const { before, after } = await onNode(applied(calls, { instanceId, image, subnet }));
    const last = kept.get(ID);
    kept.set(ID, after);
    return last === undefined ? [] : changedRules(last, before);
  }

  return {
    async assertAll() {
      const changed: string[] = [];
      const faults: Error[] = [];
      await forEachAtMost(AT_A_TIME, (await nodes.list()).filter(isReady), async (node) => {
        const name = hostnameOfNode(node);
        try {
          changed.push(...(await assert(node)).map((rule) => `${name}: ${rule}`));
        } catch (error) {
          // Its rules stay, and its administrator knows of it by the health of the swarm.
          if (isSilent(error)) return;
          faults.push(new Error(`node ${name}: ${String(error)}`, { cause: error }));
        }
      });
      if (faults.length > 0)
        throw new AggregateError(faults, faults.map(({ message }) => message).join('; '));
      return changed;
    },
    async readyOn(nodeId) {
      if (kept.has(nodeId)) return;
      const setting = first.get(nodeId) ?? assert({ ID: nodeId }).catch(() => []);
      first.set(nodeId, setting);
      await setting;
      first.delete(nodeId);
    },
  };
}

type Given = { readonly instanceId: string; readonly image: string; readonly subnet: string };

const applied = (calls: EngineCalls, { instanceId, image, subnet }: Given) =>
  onHostOf({ calls, instanceId, image }, async (run) => {
    const plan = {
      chain: chainName(instanceId),
      bridge: bridgeName(instanceId),
      subnet,
      openings: await openingsOf(run),
      isRouter: false,
    };
    return await applyFirewall(plan, run);
  });

/** The resolvers of the node, which its containers ask. */
const openingsOf = async (run: Run) =>
  neededOpenings(resolverOpenings(await configuredResolvers(run)), await ownAddresses(run));
