import { EngineFull } from '../../../ports/containers/container-runtime.ts';
import { isReady, type Nodes } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';

/** Whether Berth may place a container on the node now. */
export type MayPlace = (node: SwarmNode) => Promise<boolean>;

type Load = ReadonlyMap<string, number>;

/**
 * The node for a new volume, and so for its container for good: of those that are ready, the one with the fewest
 * volumes for its memory. Throws `EngineFull` without any.
 */
export async function chooseNode(nodes: Nodes, volumes: Load, mayPlace: MayPlace): Promise<string> {
  const ready = (await nodes.list()).filter(isReady);
  const crowding = (node: SwarmNode): number =>
    ((volumes.get(node.ID) ?? 0) + 1) / (node.Description.Resources?.MemoryBytes || 1);
  for (const node of ready.toSorted((one, other) => crowding(one) - crowding(other)))
    if (await mayPlace(node)) return node.ID;
  throw new EngineFull(`none of ${ready.length} ready nodes takes another container`);
}
