import {
  type EngineCalls,
  inspectThing,
  LIMITS,
  orNull,
  statusOf,
} from '../../docker/engine/engine-client.ts';
import { INSTANCE_LABEL, networkName } from '../../docker/engine/engine-names.ts';
import { defaultRouteMtu, takenAddresses } from '../../docker/network/host-network.ts';
import { networkOptions } from '../../docker/network/instance-network.ts';
import { pickSubnet } from '../../docker/network/subnet.ts';
import type { Manager } from '../client/manager.ts';
import { type Nodes, onNode } from '../client/nodes.ts';
import { ensureImage } from '../images/node-images.ts';
import { onHostOf } from './node-host.ts';

const CREATE_ATTEMPTS = 5;
/** Of a node whose own programs cannot be asked. */
const USUAL = { taken: [], mtu: 1500 };

export type NodeNetworks = {
  /** The network's name, the same on all nodes. */
  readonly name: string;
  /** Makes what a node needs for tasks in the network. Returns the network's name. */
  ensureOn(nodeId: string): Promise<string>;
  /** The same, even if it was there before. */
  repairOn(nodeId: string): Promise<void>;
  /** Of the installation's bridge on a node; null while it has none. */
  subnetOn(calls: EngineCalls): Promise<string | null>;
};

type NetworkSettings = {
  readonly instanceId: string;
  /** Its container asks a node for its routes; null without. */
  readonly toolsImage: string | null;
};

/** What a network of one node is made from. */
export const configName = (instanceId: string): string => `${networkName(instanceId)}-node`;

/**
 * One network of the swarm that is a separate bridge on each node, without traffic between its containers: an overlay
 * would connect them all, and has no such switch.
 */
export function nodeNetworks(
  manager: Manager,
  nodes: Nodes,
  { instanceId, toolsImage: image }: NetworkSettings,
): NodeNetworks {
  const name = networkName(instanceId);
  const done = new Set<string>();

  const subnetOn = async (calls: EngineCalls): Promise<string | null> => {
    const info = await networkOn(calls, configName(instanceId));
    if (info !== null && info.Labels?.[INSTANCE_LABEL] !== instanceId)
      throw new Error(`network ${configName(instanceId)} does not belong to this installation`);
    return info?.IPAM?.Config?.[0]?.Subnet ?? null;
  };

  async function factsOf(calls: EngineCalls): Promise<Facts> {
    if (image === null) return USUAL;
    await ensureImage(calls, image, manager.calls);
    return await onHostOf({ calls, instanceId, image }, async (run) => ({
      taken: await takenAddresses(run),
      mtu: await defaultRouteMtu(run),
    }));
  }

  async function ensureConfig(calls: EngineCalls): Promise<void> {
    if ((await subnetOn(calls)) !== null) return;
    const { taken, mtu } = await factsOf(calls).catch(() => USUAL);
    await createConfig(calls, instanceId, { mtu, taken: [...taken, ...(await engineSubnets(calls))] }, () =>
      subnetOn(calls),
    );
  }

  async function repairOn(nodeId: string): Promise<void> {
    await onNode(ensureConfig(await nodes.engineOf(nodeId)));
    // Newer managers look for the configuration on their own node.
    await ensureConfig(manager.calls);
    await ensureOfSwarm(manager.calls, instanceId);
    done.add(nodeId);
  }

  async function ensureOn(nodeId: string): Promise<string> {
    if (!done.has(nodeId)) await repairOn(nodeId);
    return name;
  }

  return { name, ensureOn, repairOn, subnetOn };
}

type NetworkInfo = {
  readonly Name: string;
  readonly Scope: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly IPAM?: { readonly Config?: readonly { readonly Subnet?: string }[] | null };
  readonly ConfigFrom?: { readonly Network?: string };
};

/** null when the engine has none of the name. */
export const networkOn = (calls: EngineCalls, name: string): Promise<NetworkInfo | null> =>
  calls.read(LIMITS.inspect, (signal) =>
    orNull<NetworkInfo>(
      [404],
      inspectThing(calls.docker.getNetwork(name) as { inspect(): Promise<NetworkInfo> }, signal),
    ),
  );

type Facts = { readonly taken: readonly string[]; readonly mtu: number };

async function engineSubnets(calls: EngineCalls): Promise<readonly string[]> {
  const all = await calls.read(LIMITS.list, (abortSignal) => calls.docker.listNetworks({ abortSignal }));
  return (all as unknown as readonly NetworkInfo[]).flatMap(({ IPAM }) =>
    (IPAM?.Config ?? []).map(({ Subnet = '' }) => Subnet),
  );
}

/** The part of the network that each node has: subnet, bridge and options. */
async function createConfig(
  calls: EngineCalls,
  instanceId: string,
  { taken, mtu }: Facts,
  present: () => Promise<string | null>,
): Promise<void> {
  const refused: string[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const subnet = pickSubnet(instanceId, [...taken, ...refused]);
    const options = networkOptions(instanceId, subnet, mtu);
    const config = { ...options, Name: configName(instanceId), ConfigOnly: true };
    try {
      await calls.change(LIMITS.start, (abortSignal) =>
        calls.docker.createNetwork({ ...config, abortSignal } as never),
      );
      return;
    } catch (error) {
      if ((await present()) !== null) return;
      if (statusOf(error) === null || attempt === CREATE_ATTEMPTS) throw error;
      refused.push(subnet);
    }
  }
}

/** The network that services name. It can have no labels: its configuration is that of each node. */
async function ensureOfSwarm(manager: EngineCalls, instanceId: string): Promise<void> {
  const name = networkName(instanceId);
  const present = async (): Promise<boolean> => {
    const info = await networkOn(manager, name);
    if (info === null) return false;
    if (info.Scope === 'swarm' && info.ConfigFrom?.Network === configName(instanceId)) return true;
    throw new Error(`network ${name} exists but is not the one of this installation's swarm`);
  };
  if (await present()) return;
  const options = {
    Name: name,
    Driver: 'bridge',
    Scope: 'swarm',
    Attachable: true,
    ConfigFrom: { Network: configName(instanceId) },
  };
  const creating = manager.change(LIMITS.start, (abortSignal) =>
    manager.docker.createNetwork({ ...options, abortSignal } as never),
  );
  await creating.catch(async (error: unknown) => {
    if (!(await present())) throw error;
  });
}
