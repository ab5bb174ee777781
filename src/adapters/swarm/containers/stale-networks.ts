import type { Nodes } from '../client/nodes.ts';
import { type SwarmNode, versionOf } from '../client/objects.ts';

export type StaleNetworks = ReturnType<typeof staleNetworks>;

/**
 * The nodes whose engine was seen to refuse the containers' network, which it kept from before its crash: only an
 * administrator can remove it, since the engine's API does not show it. A node is trusted again when its engine has joined
 * the swarm anew.
 */
export function staleNetworks(nodes: Nodes) {
  /** By node: its version then. */
  const seenAt = new Map<string, number>();
  return {
    async note(nodeId: string): Promise<void> {
      seenAt.set(nodeId, versionOf(await nodes.require(nodeId)));
    },
    forget: (nodeId: string): void => void seenAt.delete(nodeId),
    isOn: (node: SwarmNode): boolean => seenAt.get(node.ID) === versionOf(node),
  };
}
