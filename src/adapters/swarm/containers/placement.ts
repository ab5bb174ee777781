import { EngineFull } from '../../../ports/containers/container-runtime.ts';
import type { Nodes } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';
import { OtherPlatform } from '../images/platform.ts';

/** Whether Berth may place a container on the node now. */
export type MayPlace = (node: SwarmNode) => Promise<boolean>;

type Load = ReadonlyMap<string, number>;

/** Chooses the node of a new volume by how many each has. `prepare` throws for a node that cannot take it. */
export type Choose = (volumes: Load, prepare: (nodeId: string) => Promise<unknown>) => Promise<string>;

/** A node that could not take a container is the last choice for so long. */
const AVOIDED_MS = 60_000;

/**
 * The node for a new volume, and so for its container for good: of those that are ready, the one with the fewest
 * volumes for its memory. The next one is tried when it cannot take a container. `isFaulty`: whether a node is a last
 * choice. Throws the last fault, or `EngineFull` without any node.
 */
export function nodeChooser(
  nodes: Nodes,
  mayPlace: MayPlace,
  isFaulty: (node: SwarmNode) => boolean,
): Choose {
  const failedAtMs = new Map<string, number>();
  const isAvoided = (node: SwarmNode): boolean =>
    isFaulty(node) || performance.now() - (failedAtMs.get(node.ID) ?? Number.NEGATIVE_INFINITY) < AVOIDED_MS;

  return async (volumes, prepare) => {
    const crowding = ({ ID, Description }: SwarmNode): number =>
      ((volumes.get(ID) ?? 0) + 1) / (Description.Resources?.MemoryBytes || 1);
    const ready = await nodes.schedulable();
    const sorted = ready.toSorted(
      (one, other) => Number(isAvoided(one)) - Number(isAvoided(other)) || crowding(one) - crowding(other),
    );
    let fault: unknown = new EngineFull(`none of ${ready.length} ready nodes takes another container`);
    for (const node of sorted) {
      if (!(await mayPlace(node))) continue;
      try {
        await prepare(node.ID);
        return node.ID;
      } catch (error) {
        // Other images fit it.
        if (!(error instanceof OtherPlatform)) failedAtMs.set(node.ID, performance.now());
        fault = error;
      }
    }
    throw fault;
  };
}
