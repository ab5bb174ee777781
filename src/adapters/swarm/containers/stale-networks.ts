import type { Nodes } from '../client/nodes.ts';
import { type SwarmNode, versionOf } from '../client/objects.ts';

export type StaleNetworks = ReturnType<typeof staleNetworks>;

/** By node: its version when a start failed there. */
export type StaleNodes = Map<string, number>;

/**
 * The nodes whose engine was seen to refuse the containers' network, which it kept from before its crash: only an
 * administrator can remove it, since the engine's API does not show it. A node is trusted again after any change of it, as
 * when its engine has rejoined the swarm. `seenAt` may outlive a connection to the swarm.
 */
export function staleNetworks(nodes: Nodes, seenAt: StaleNodes) {
  return {
    async note(nodeId: string): Promise<void> {
      seenAt.set(nodeId, versionOf(await nodes.require(nodeId)));
    },
    forget: (nodeId: string): void => void seenAt.delete(nodeId),
    isOn: (node: SwarmNode): boolean => seenAt.get(node.ID) === versionOf(node),
  };
}
