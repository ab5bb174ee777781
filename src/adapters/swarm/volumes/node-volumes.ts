import type { VolumeFacts, VolumeReader } from '../../../ports/containers/container-disk.ts';
import { type ContainerSpec, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { type DiskSettings, dockerVolumes, type Volumes } from '../../docker/volumes/container-volumes.ts';
import type { Manager } from '../client/manager.ts';
import { NodeRemoved, type Nodes, onNode } from '../client/nodes.ts';
import type { Choose } from '../containers/placement.ts';
import { releaseVolume } from './volume-holder.ts';
import { volumeNodes } from './volume-nodes.ts';

type NewVolume = Pick<ContainerSpec, 'volume' | 'dbId' | 'generation' | 'resources'>;

export type NodeVolumes = {
  /**
   * Makes the volume when it is absent, on a node that `prepare` does not refuse; returns its node. Throws while a silent
   * node may have it.
   */
  ensure(spec: NewVolume, prepare: (nodeId: string) => Promise<unknown>): Promise<string>;
  /** Throws when the node does not have it, or does not answer. */
  require(volume: string, nodeId: string): Promise<void>;
  facts(volume: string): Promise<VolumeFacts | null>;
  usedBytes(volume: string, reader: VolumeReader): Promise<number | null>;
  /** Throws while a silent node may have it. */
  remove(volume: string): Promise<void>;
};

export type VolumeDeps = {
  readonly manager: Manager;
  readonly nodes: Nodes;
  readonly instanceId: string;
  readonly disk: DiskSettings;
  readonly choose: Choose;
};

/**
 * Volumes of one installation, each on one node of the swarm. The record of its node is made before it and removed after
 * it.
 */
export function nodeVolumes({ manager, nodes, instanceId, disk, choose }: VolumeDeps): NodeVolumes {
  const of = (calls: EngineCalls): Volumes => dockerVolumes(calls, instanceId, disk);
  const on = async <T>(nodeId: string, work: (volumes: Volumes) => Promise<T>): Promise<T> =>
    await onNode(work(of(await nodes.engineOf(nodeId))));
  const has = async (nodeId: string, volume: string): Promise<boolean> =>
    (await on(nodeId, (volumes) => volumes.facts(volume))) !== null;
  const places = volumeNodes({ manager, nodes, instanceId, has });

  /** The volume of a row's first container has been nowhere before: no silent node can have it. */
  async function placed(
    { volume, dbId, generation }: NewVolume,
    prepare: (nodeId: string) => Promise<unknown>,
  ): Promise<string> {
    const before = await places.recorded(volume);
    if (before !== null && generation === 1) return before;
    const { nodeId, isMoved, doubt } =
      generation === 1 ? { nodeId: null, isMoved: false, doubt: null } : await places.find(volume);
    if (nodeId === null && doubt !== null) throw doubt;
    const chosen = nodeId ?? (await choose(await places.counts(), prepare));
    return chosen === before ? chosen : await places.record(volume, dbId, chosen, isMoved);
  }

  return {
    async ensure(spec, prepare) {
      const nodeId = await placed(spec, prepare);
      await on(nodeId, (volumes) => volumes.ensure(spec));
      return nodeId;
    },
    // A task would get an empty volume in its place.
    async require(volume, nodeId) {
      if (!(await has(nodeId, volume)))
        throw new RuntimeFailure(`volume ${volume} is not on its node ${nodeId}`);
    },
    async facts(volume) {
      const { nodeId, doubt } = await places.find(volume);
      // A node that does not answer may have it.
      if (nodeId === null && doubt !== null && !(doubt instanceof NodeRemoved)) throw doubt;
      return nodeId === null ? null : await on(nodeId, (volumes) => volumes.facts(volume));
    },
    async usedBytes(volume, reader) {
      const { nodeId } = await places.find(volume);
      return nodeId === null ? null : await on(nodeId, (volumes) => volumes.usedBytes(volume, reader));
    },
    async remove(volume) {
      const { nodeId, doubt } = await places.find(volume);
      // An administrator took its node out of the swarm, and no other has it.
      if (doubt !== null && !(doubt instanceof NodeRemoved)) throw doubt;
      if (nodeId !== null) {
        await onNode(releaseVolume(await nodes.engineOf(nodeId), instanceId, volume));
        await on(nodeId, (volumes) => volumes.remove(volume));
      }
      await places.forget(volume);
    },
  };
}
