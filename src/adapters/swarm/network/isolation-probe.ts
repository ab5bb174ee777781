import { isIPv4 } from 'node:net';
import { isContainerUnresponsive } from '../../../ports/containers/container-runtime.ts';
import type { Canary, Reached } from '../../../ports/containers/isolation-canary.ts';
import { dockerCanary } from '../../docker/containers/isolation-probe.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { gatewayOf } from '../../docker/network/subnet.ts';
import { addressOfNode, urlOf } from '../client/node-address.ts';
import { onNode } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';
import { cpuMillicoresOf } from '../containers/create-service.ts';
import { ensureImage } from '../images/node-images.ts';
import type { Swarm } from '../swarm.ts';

const MANAGER_PORT = 2377;
const ENGINE_PORT = 2376;

/**
 * Tries, on each node that may run containers, to reach a neighbour, the engines of all nodes, the managers and the
 * metadata address.
 */
export function swarmCanary(swarm: Swarm, image: string): Canary {
  const { nodes, networks, manager } = swarm;
  const { instanceId, processLimits } = swarm.settings;
  let present: Canary | null = null;
  let isOver = false;

  async function proveOn(node: SwarmNode, all: readonly SwarmNode[]): Promise<readonly Reached[]> {
    const calls = await nodes.engineOf(node.ID);
    const network = await networks.ensureOn(node.ID);
    await onNode(ensureImage(calls, image, manager.calls));
    const hostCpuMillicores = await cpuMillicoresOf(swarm, node.ID);
    const around = await forbiddenTargets(swarm, calls, node, all);
    if (isOver) throw new Error('the isolation check was stopped');
    present = dockerCanary(calls.docker, {
      instanceId,
      network,
      cgroupParent: null,
      hostCpuMillicores,
      processLimits,
      image,
      isLocal: false,
      around,
    });
    return await onNode(present.prove());
  }

  return {
    async prove() {
      const all = await nodes.list();
      const proved: (readonly Reached[])[] = [];
      let silence: unknown = new Error('no node can run containers');
      for (const node of await nodes.mayHaveContainers())
        try {
          proved.push(await proveOn(node, all));
        } catch (error) {
          if (!isContainerUnresponsive(error)) throw error;
          silence = error;
        }
      if (proved.length === 0) throw silence;
      return proved.flat();
    },
    async stop() {
      isOver = true;
      await present?.stop();
    },
  };
}

/** Addresses that no container on the node may reach, including the node's own gateway address. */
async function forbiddenTargets(
  { networks, settings }: Swarm,
  calls: EngineCalls,
  node: SwarmNode,
  all: readonly SwarmNode[],
): Promise<readonly Reached[]> {
  const enginePortOf = (each: SwarmNode): number => {
    const url = urlOf(each, settings.addresses);
    return Number(URL.canParse(url) ? new URL(url).port : '') || ENGINE_PORT;
  };
  const subnet = await networks.subnetOn(calls);
  const gatewayTargets = subnet === null ? [] : [`${gatewayOf(subnet)}:${enginePortOf(node)}`];
  const engines = all.flatMap((each) => atAddressOf(each, enginePortOf(each)));
  const managers = all.flatMap((each) => atAddressOf(each, MANAGER_PORT));
  return [
    ...[...gatewayTargets, ...engines].map((at) => ({ what: 'node', at }) as const),
    ...managers.map((at) => ({ what: 'cluster', at }) as const),
  ];
}

function atAddressOf(node: SwarmNode, port: number): readonly string[] {
  const address = addressOfNode(node);
  return isIPv4(address) && address !== '0.0.0.0' ? [`${address}:${port}`] : [];
}
