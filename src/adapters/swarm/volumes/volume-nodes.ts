import { nodeSilent, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../docker/engine/engine-names.ts';
import type { Manager } from '../client/manager.ts';
import { hostnameOfNode } from '../client/node-address.ts';
import { NodeRemoved, type Nodes } from '../client/nodes.ts';
import { NODE_LABEL, VOLUME_LABEL, volumeRecordOf } from '../containers/names.ts';

/**
 * - `nodeId`: null when no node that answers has the volume.
 * - `isMoved`: its record names another node, or there is none.
 * - `doubt`: why it may exist all the same.
 */
export type Whereabouts = {
  readonly nodeId: string | null;
  readonly isMoved: boolean;
  readonly doubt: Error | null;
};

type Deps = {
  readonly manager: Manager;
  readonly nodes: Nodes;
  readonly instanceId: string;
  /** Whether the engine of a node has a volume. */
  readonly has: (nodeId: string, volume: string) => Promise<boolean>;
};

/** Which node has a volume: all managers know by its record. Without a record, or without that node, it is searched for. */
export function volumeNodes(deps: Deps) {
  const { manager, nodes, instanceId } = deps;

  async function recorded(volume: string): Promise<string | null> {
    const labels = (await manager.config(volumeRecordOf(volume)))?.Spec.Labels ?? null;
    if (labels === null) return null;
    const nodeId = labels[NODE_LABEL];
    if (labels[INSTANCE_LABEL] === instanceId && nodeId !== undefined) return nodeId;
    throw new RuntimeFailure(`the record of volume ${volume} does not belong to this installation`);
  }

  /** Its record was removed, as one that nothing refers to. */
  async function ofItsService(volume: string): Promise<string | null> {
    const labels = { [INSTANCE_LABEL]: instanceId, [VOLUME_LABEL]: volume };
    return (await manager.services(labels))[0]?.Spec.Labels[NODE_LABEL] ?? null;
  }

  return {
    recorded,
    async find(volume: string): Promise<Whereabouts> {
      const known = (await recorded(volume)) ?? (await ofItsService(volume));
      if (known === null) return await search(deps, volume);
      if ((await nodes.list()).some(({ ID }) => ID === known))
        return { nodeId: known, isMoved: false, doubt: null };
      const found = await search(deps, volume);
      const gone = new NodeRemoved(`the node ${known} is no longer in the swarm`);
      return found.nodeId === null ? { ...found, doubt: found.doubt ?? gone } : found;
    },
    /** Returns the node that is recorded then: one that was recorded meanwhile, unless the volume has moved. */
    async record(volume: string, dbId: string, nodeId: string, hasMoved: boolean): Promise<string> {
      const name = volumeRecordOf(volume);
      if (hasMoved) await manager.removeConfig(name);
      const labels = { [INSTANCE_LABEL]: instanceId, [DB_ID_LABEL]: dbId, [NODE_LABEL]: nodeId };
      if (await manager.createConfig(name, labels)) return nodeId;
      return (await recorded(volume)) ?? nodeId;
    },
    forget: (volume: string): Promise<void> => manager.removeConfig(volumeRecordOf(volume)),
    /** How many volumes each node has. */
    async counts(): Promise<ReadonlyMap<string, number>> {
      const counts = new Map<string, number>();
      for (const { Spec } of await manager.configs({ [INSTANCE_LABEL]: instanceId })) {
        const nodeId = Spec.Labels?.[NODE_LABEL] ?? '';
        counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
      }
      return counts;
    },
  };
}

/** Asks the engines of all nodes. Throws `OtherSwarm` when none has it, and the manager is no longer in the swarm. */
async function search({ manager, nodes, has }: Deps, volume: string): Promise<Whereabouts> {
  const asked = (await nodes.list()).map(async (node) => {
    if (node.Status.State !== 'ready')
      throw nodeSilent(new Error(`the node ${hostnameOfNode(node)} may have volume ${volume}`));
    return (await has(node.ID, volume)) ? node.ID : null;
  });
  const answers = await Promise.allSettled(asked);
  const nodeId = answers.map((each) => (each.status === 'fulfilled' ? each.value : null)).find(Boolean);
  // The list of nodes may be older than the manager's change of swarm.
  if (nodeId == null) await manager.requireOwn();
  const silent = answers.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  return {
    nodeId: nodeId ?? null,
    isMoved: nodeId != null,
    doubt: nodeId == null ? (silent?.reason ?? null) : null,
  };
}
