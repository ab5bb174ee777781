import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { bridgeName, chainName } from '../../docker/engine/engine-names.ts';
import type { Run } from '../../docker/host/host-commands.ts';
import { applyFirewall } from '../../docker/network/firewall.ts';
import { changedRules, neededOpenings, resolverOpenings } from '../../docker/network/firewall-rules.ts';
import { configuredResolvers, ownAddresses } from '../../docker/network/host-network.ts';
import { hostnameOfNode, isReady, onNode } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';
import { ensureImage } from '../images/node-images.ts';
import type { Swarm } from '../swarm.ts';
import { onHostOf } from './node-host.ts';

const AT_A_TIME = 4;

/**
 * Sets the rules of the packet filter on all ready nodes, the same as on a single machine, and returns what was changed
 * from outside since the last time. Throws when a node refuses, after the others have them.
 */
export function swarmFirewall(swarm: Swarm, image: string): () => Promise<readonly string[]> {
  const { nodes, manager, networks, settings } = swarm;
  const { instanceId } = settings;
  const kept = new Map<string, readonly string[]>();

  async function assert(node: SwarmNode): Promise<readonly string[]> {
    const calls = await nodes.engineOf(node.ID);
    await networks.ensureOn(node.ID);
    const subnet = await onNode(networks.subnetOn(calls));
    if (subnet === null) return [];
    await onNode(ensureImage(calls, image, manager.calls));
    const { before, after } = await onNode(applied(calls, { instanceId, image, subnet }));
    const last = kept.get(node.ID);
    kept.set(node.ID, after);
    const changed = last === undefined ? [] : changedRules(last, before);
    return changed.map((rule) => `${hostnameOfNode(node)}: ${rule}`);
  }

  return async () => {
    const changed: string[] = [];
    const faults: unknown[] = [];
    await forEachAtMost(AT_A_TIME, (await nodes.list()).filter(isReady), async (node) => {
      try {
        changed.push(...(await assert(node)));
      } catch (error) {
        faults.push(new Error(`node ${hostnameOfNode(node)}: ${String(error)}`, { cause: error }));
      }
    });
    if (faults.length > 0) throw new AggregateError(faults, faults.map(String).join('; '));
    return changed;
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
