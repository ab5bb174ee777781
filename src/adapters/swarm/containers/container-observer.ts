import type { ContainerObserver, ListedContainer } from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { watchEngine } from '../../docker/engine/engine-events.ts';
import type { Manager } from '../client/manager.ts';
import type { Nodes } from '../client/nodes.ts';
import { runtimeIdOf } from './names.ts';
import type { ContainerRecord, Records } from './records.ts';
import { observed } from './task-states.ts';

/** The installation, and the swarm's name in handles. */
export type Whose = { readonly instanceId: string; readonly node: string };

/** How often nodes are looked for that have come since. */
const NODES_EVERY_MS = 30_000;

type Parts = { readonly manager: Manager; readonly nodes: Nodes; readonly records: Records };

/** An installation's containers in one swarm. */
export const swarmObserver = (
  { manager, nodes, records }: Parts,
  { instanceId, node }: Whose,
): ContainerObserver => ({
  ping: async () => void (await manager.heartbeatSeconds()),
  async observe({ runtimeId }) {
    const record = await records.find(runtimeId);
    if (record === null) return { kind: 'gone' };
    const [tasks, all] = await Promise.all([manager.tasks(record.name), nodes.list()]);
    return observed(tasks, all.find(({ ID }) => ID === record.nodeId)?.Status.State ?? 'removed');
  },
  async find(dbId, generation) {
    const runtimeId = runtimeIdOf(instanceId, dbId, generation);
    return (await records.find(runtimeId)) === null ? null : { node, runtimeId };
  },
  async list() {
    return (await records.list()).map((record) => listed(record, node));
  },
  watch: (hint) => watchNodes(nodes, instanceId, hint),
});

const listed = (
  { runtimeId, dbId, generation, service }: ContainerRecord,
  node: string,
): ListedContainer => ({
  handle: { node, runtimeId },
  dbId,
  generation,
  state: (service.ServiceStatus?.RunningTasks ?? 0) > 0 ? 'running' : 'stopped',
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
