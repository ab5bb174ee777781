import { nodeSilent, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { GENERATION_LABEL } from '../../docker/engine/engine-names.ts';
import { onNode } from '../client/nodes.ts';
import type { Swarm } from '../swarm.ts';
import { cpuMillicoresOf } from './create-service.ts';
import { taskContainers } from './node-containers.ts';
import type { ContainerRecord } from './records.ts';
import { containerIdOf, mayRun, taskState } from './task-states.ts';

/** What must hold before a container is started: two on one volume would spoil its files. */
export function startChecks(swarm: Swarm) {
  const { manager, nodes } = swarm;
  const { ofRow } = taskContainers(swarm);
  return {
    /** Throws when the swarm starts nothing on the container's node; else how much processor the node has. */
    async requireReady({ nodeId }: ContainerRecord): Promise<number> {
      await nodes.requireReady(nodeId);
      return await cpuMillicoresOf(swarm, nodeId);
    },

    /**
     * Throws while the node runs another generation of the row, or a container of a task that it did not report: both
     * would use the volume.
     */
    async requireAlone({ nodeId, dbId, generation, name }: ContainerRecord): Promise<void> {
      const calls = await nodes.engineOf(nodeId);
      const found = await onNode(ofRow(calls, dbId));
      if (found.length === 0) return;
      if (found.some(({ Labels }) => Labels[GENERATION_LABEL] !== String(generation)))
        throw new RuntimeFailure(`another container of ${dbId} runs`);
      const tasks = (await manager.tasks(name)).filter(mayRun);
      const known = tasks.map(containerIdOf);
      // A start of another process: the node has not reported it yet.
      if (tasks.some((task) => taskState(task).kind === 'starting')) return;
      if (found.some(({ Id }) => !known.includes(Id)))
        throw nodeSilent(new Error(`an earlier container of ${name} still runs`));
    },
  };
}
