import { hostnameOfNode } from '../client/node-address.ts';
import { acceptsTasks, engineFault } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';
import { CONFINE } from '../containers/confinement.ts';
import type { Swarm } from '../swarm.ts';

/** Nodes are lost after three times this without a report: then a swarm ends their tasks when they return. */
const HEARTBEAT_SECONDS = 60;

export type SwarmFault = {
  readonly words: string;
  /** The step that fixes it. */
  readonly mend: string;
};

export type SwarmHealth = { readonly detail: string; readonly faults: readonly SwarmFault[] };

/** What a swarm lacks for containers, for administrators. Throws when its manager does not answer. */
export async function swarmHealth(swarm: Swarm): Promise<SwarmHealth> {
  const { manager, nodes } = swarm;
  const [seconds, all] = await Promise.all([manager.heartbeatSeconds(), nodes.list()]);
  const fits = await nodes.platformFilter();
  const found = await Promise.all(all.map(async (node) => await faultOf(swarm, node, fits(node))));
  const ready = all.filter((node, at) => acceptsTasks(node) && fits(node) && found[at] === null).length;
  // What the machines are is no fault.
  const unfit = all
    .filter((node) => acceptsTasks(node) && !fits(node))
    .map(
      (node) =>
        `; no containers on ${hostnameOfNode(node)}, which has another CPU architecture than the manager`,
    );
  return {
    detail: `${all.length} ${all.length === 1 ? 'node' : 'nodes'}, ${ready} in use${unfit.join('')}`,
    faults: [...heartbeatFaults(seconds), ...found.filter((fault) => fault !== null)],
  };
}

const heartbeatFaults = (seconds: number): readonly SwarmFault[] =>
  seconds >= HEARTBEAT_SECONDS
    ? []
    : [
        {
          words: `a cut of ${Math.round(3 * seconds)} s in the network ends containers (heartbeat of ${seconds} s)`,
          mend: `docker swarm update --dispatcher-heartbeat ${HEARTBEAT_SECONDS}s`,
        },
      ];

const keptNetwork = (name: string): SwarmFault => ({
  words: `containers cannot start on ${name}: since its crash, its engine holds on to the old network`,
  mend: `${name}: stop Docker, remove /var/lib/docker/network/files/local-kv.db, start Docker (see docs/swarm.md#after-a-crash-of-a-node)`,
});

async function faultOf(
  { nodes, mayPlace, staleNetworks }: Swarm,
  node: SwarmNode,
  fits: boolean,
): Promise<SwarmFault | null> {
  const name = hostnameOfNode(node);
  if (node.Status.State !== 'ready')
    return { words: `the node ${name} is ${node.Status.State}`, mend: `bring back ${name}` };
  // An administrator's choice, or a machine that gets no container.
  if (!acceptsTasks(node) || !fits) return null;
  if (staleNetworks.isOn(node)) return keptNetwork(name);
  try {
    await nodes.engineOf(node.ID);
    if (await mayPlace(node)) return null;
    return { words: `containers on ${name} could gain privileges`, mend: `${name}: ${CONFINE}` };
  } catch (error) {
    const words = `the engine of the node ${name} cannot be used: ${engineFault(error)}`;
    return { words, mend: 'see docs/swarm.md' };
  }
}
