import { POOL_GENERATION } from '../../../domain/containers/warm-pool.ts';
import type {
  ContainerObserver,
  ListedContainer,
  ObservedContainer,
} from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { watchEngine } from '../../docker/engine/engine-events.ts';
import { acceptsTasks, type Nodes } from '../client/nodes.ts';
import type { SwarmNode } from '../client/objects.ts';
import type { Swarm } from '../swarm.ts';
import { mayHaveEnded, scaleDownEnded } from './ended-services.ts';
import { runtimeIdOf } from './names.ts';
import { containersOnNodes } from './node-containers.ts';
import type { ContainerRecord, ListedRecord } from './records.ts';
import { observed, presentState } from './task-states.ts';

/** How often nodes are looked for that have come since. */
const NODES_EVERY_MS = 30_000;

/** A node that comes back after a day does not report any more what became of its tasks. */
const ENDED_UNSEEN = { kind: 'stopped', exitCode: 137 } as const;

/** An installation's containers in one swarm. */
export function swarmObserver(swarm: Swarm): ContainerObserver {
  const { manager, nodes, records, settings } = swarm;
  const { instanceId, node } = settings;
  const onNodes = containersOnNodes(swarm);
  const scaleDown = scaleDownEnded(manager, async (record) => (await onNodes.running(record)).length > 0);
  return {
    ping: async () => void (await manager.heartbeatSeconds()),
    async observe({ runtimeId }) {
      const record = await records.find(runtimeId);
      if (record === null) return { kind: 'gone' };
      const [tasks, all] = await Promise.all([manager.tasks(record.name), nodes.list()]);
      const node = all.find(({ ID }) => ID === record.nodeId);
      // Another container finds the volume, should its machine be another node now.
      if (node === undefined) return { kind: 'gone' };
      const nodeState = stateOf(all, record);
      const isBack = nodeState === 'ready' && presentState(tasks)?.kind === 'lost';
      const isOver = isBack && (await onNodes.running(record)).length === 0;
      return inMaintenance(isOver ? ENDED_UNSEEN : observed(tasks, nodeState), node);
    },
    async find(dbId, generation) {
      const runtimeId = runtimeIdOf(instanceId, dbId, generation);
      return (await records.find(runtimeId)) === null ? null : { node, runtimeId };
    },
    async findMember(dbId) {
      const runtimeId = runtimeIdOf(instanceId, dbId, POOL_GENERATION);
      return (await records.find(runtimeId))?.isMember === true ? { node, runtimeId } : null;
    },
    async list() {
      const [all, present] = await Promise.all([records.list(), nodes.list()]);
      // A silent node does not report how its task ended.
      const isKnown = (record: ListedRecord) => ['ready', 'removed'].includes(stateOf(present, record));
      scaleDown(all.filter((record) => mayHaveEnded(record) && isKnown(record)));
      return all.map((record) => listed(record, node, stateOf(present, record)));
    },
    watch: (hint) => watchNodes(nodes, instanceId, hint),
  };
}

/** The swarm's word for the node of a container, or `removed`. */
const stateOf = (all: readonly SwarmNode[], { nodeId }: Pick<ContainerRecord, 'nodeId'>): string =>
  all.find(({ ID }) => ID === nodeId)?.Status.State ?? 'removed';

/** A silent node may be back before the next start. */
const inMaintenance = (seen: ObservedContainer, node: SwarmNode): ObservedContainer =>
  seen.kind === 'stopped' && node.Status.State === 'ready' && !acceptsTasks(node)
    ? { ...seen, isInMaintenance: true }
    : seen;

const listed = (
  { runtimeId, dbId, generation, runningTasks, isMember }: ListedRecord,
  node: string,
  nodeState: string,
): ListedContainer => ({
  handle: { node, runtimeId },
  dbId,
  generation,
  // Nothing of a removed node is waited for.
  state: nodeState !== 'removed' && runningTasks > 0 ? 'running' : 'stopped',
  ...(nodeState !== 'ready' && nodeState !== 'removed' && { isSilent: true }),
  ...(isMember && { isMember: true }),
});

/** A swarm does not tell when tasks end: the engines of its nodes do. */
function watchNodes(nodes: Nodes, instanceId: string, hint: () => void): () => void {
  const watched = new Map<EngineCalls, () => void>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const listed = await nodes.refresh().catch(() => []);
    await Promise.all(listed.map(({ ID }) => nodes.engineOf(ID).catch(() => null)));
    const known = await nodes.known();
    if (isOver) return;
    for (const [calls, unwatch] of watched) {
      if (known.has(calls)) continue;
      unwatch();
      watched.delete(calls);
    }
    for (const calls of known)
      if (!watched.has(calls)) watched.set(calls, watchEngine(calls.docker, instanceId, hint));
    timer = setTimeout(() => void look(), NODES_EVERY_MS);
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
    for (const unwatch of watched.values()) unwatch();
  };
}
