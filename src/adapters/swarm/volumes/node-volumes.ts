import type { VolumeFacts, VolumeReader } from '../../../ports/containers/container-disk.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { VolumeSpec } from '../../../ports/containers/snapshots/volume-copies.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../docker/engine/engine-names.ts';
import { type DiskSettings, dockerVolumes, type Volumes } from '../../docker/volumes/container-volumes.ts';
import type { Manager } from '../client/manager.ts';
import { NodeRemoved, type Nodes, onNode } from '../client/nodes.ts';
import { NODE_LABEL, volumeRecordOf } from '../containers/names.ts';

export type NodeVolumes = {
  /** The node that has the volume; null when there is no such volume. */
  nodeOf(volume: string): Promise<string | null>;
  /** Makes the volume on a node when it is absent; returns the node. */
  ensure(spec: Omit<VolumeSpec, 'image'>): Promise<string>;
  /** Throws when the node does not have it, or does not answer. */
  require(volume: string, nodeId: string): Promise<void>;
  facts(volume: string): Promise<VolumeFacts | null>;
  usedBytes(volume: string, reader: VolumeReader): Promise<number | null>;
  remove(volume: string): Promise<void>;
};

export type VolumeDeps = {
  readonly manager: Manager;
  readonly nodes: Nodes;
  readonly instanceId: string;
  readonly disk: DiskSettings;
  /** Chooses the node of a new volume by how many each has. */
  readonly choose: (volumes: ReadonlyMap<string, number>) => Promise<string>;
};

/**
 * Volumes of one installation, each on one node of the swarm. Which one it is, all managers know: the record of a
 * volume is made before it and removed after it.
 */
export function nodeVolumes({ manager, nodes, instanceId, disk, choose }: VolumeDeps): NodeVolumes {
  async function nodeOf(volume: string): Promise<string | null> {
    const labels = (await manager.config(volumeRecordOf(volume)))?.Spec.Labels ?? null;
    if (labels === null) return null;
    const nodeId = labels[NODE_LABEL];
    if (labels[INSTANCE_LABEL] === instanceId && nodeId !== undefined) return nodeId;
    throw new RuntimeFailure(`the record of volume ${volume} does not belong to this installation`);
  }

  async function placed(volume: string, dbId: string): Promise<string> {
    const before = await nodeOf(volume);
    if (before !== null) return before;
    const nodeId = await choose(await volumesByNode(manager, instanceId));
    const labels = { [INSTANCE_LABEL]: instanceId, [DB_ID_LABEL]: dbId, [NODE_LABEL]: nodeId };
    if (await manager.createConfig(volumeRecordOf(volume), labels)) return nodeId;
    return (await nodeOf(volume)) ?? nodeId;
  }

  const of = (calls: EngineCalls): Volumes => dockerVolumes(calls, instanceId, disk);
  const on = async <T>(nodeId: string, work: (volumes: Volumes) => Promise<T>): Promise<T> =>
    await onNode(work(of(await nodes.engineOf(nodeId))));

  return {
    nodeOf,
    async ensure(spec) {
      const nodeId = await placed(spec.volume, spec.dbId);
      await on(nodeId, (volumes) => volumes.ensure(spec));
      return nodeId;
    },
    // A task would get an empty volume in its place.
    async require(volume, nodeId) {
      if ((await on(nodeId, (volumes) => volumes.facts(volume))) === null)
        throw new RuntimeFailure(`volume ${volume} is not on its node ${nodeId}`);
    },
    async facts(volume) {
      const nodeId = await nodeOf(volume);
      if (nodeId === null) return null;
      return await on(nodeId, (volumes) => volumes.facts(volume)).catch(goneWithItsNode);
    },
    async usedBytes(volume, reader) {
      const nodeId = await nodeOf(volume);
      if (nodeId === null) return null;
      return await on(nodeId, (volumes) => volumes.usedBytes(volume, reader)).catch(goneWithItsNode);
    },
    async remove(volume) {
      const nodeId = await nodeOf(volume);
      if (nodeId === null) return;
      await on(nodeId, (volumes) => volumes.remove(volume)).catch(goneWithItsNode);
      await manager.removeConfig(volumeRecordOf(volume));
    },
  };
}

/** An administrator took the node out of the swarm, and its volumes with it. */
function goneWithItsNode(error: unknown): null {
  if (error instanceof NodeRemoved) return null;
  throw error;
}

async function volumesByNode(manager: Manager, instanceId: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { Spec } of await manager.configs({ [INSTANCE_LABEL]: instanceId })) {
    const nodeId = Spec.Labels?.[NODE_LABEL] ?? '';
    counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  }
  return counts;
}
