import { pollUntil } from '../../../concurrency/poll.ts';
import type { Resources } from '../../../domain/containers/resources.ts';
import { nullWhenStopped, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { limitsOf } from '../../docker/containers/create-options.ts';
import { removeNow } from '../../docker/containers/stale-containers.ts';
import { type EngineCalls, LIMITS, orNull } from '../../docker/engine/engine-client.ts';
import { DB_ID_LABEL, GENERATION_LABEL, INSTANCE_LABEL } from '../../docker/engine/engine-names.ts';
import { NodeRemoved, onNode } from '../client/nodes.ts';
import type { Task } from '../client/objects.ts';
import type { Swarm } from '../swarm.ts';
import { requireConfined } from './confinement.ts';
import { cpuMillicoresOf } from './create-service.ts';
import type { ContainerRecord } from './records.ts';
import { containerIdOf } from './task-states.ts';

const REMOVAL = { withinMs: 10_000, everyMs: 50 } as const;

type Labels = Readonly<Record<string, string>>;

type ContainerKey = Pick<ContainerRecord, 'nodeId' | 'dbId' | 'generation'>;

type Found = { readonly Id: string; readonly Labels: Labels };

/** The containers of this installation's tasks on one engine. */
export function taskContainers({ settings }: Swarm) {
  async function listed(calls: EngineCalls, labels: Labels, all: boolean): Promise<readonly Found[]> {
    const label = Object.entries({ [INSTANCE_LABEL]: settings.instanceId, ...labels });
    const filters = { label: label.map(([name, value]) => `${name}=${value}`) };
    return (await calls.read(LIMITS.list, (abortSignal) =>
      calls.docker.listContainers({ all, filters, abortSignal }),
    )) as readonly Found[];
  }

  return {
    /** The running ones of all generations of a row. */
    ofRow: (calls: EngineCalls, dbId: string) => listed(calls, { [DB_ID_LABEL]: dbId }, false),
    ofRecord: (calls: EngineCalls, { dbId, generation }: ContainerKey, all: boolean) =>
      listed(calls, { [DB_ID_LABEL]: dbId, [GENERATION_LABEL]: String(generation) }, all),
  };
}

/** What the engines of nodes do to the containers of tasks, which a swarm does not, or not in time. */
export function containersOnNodes(swarm: Swarm) {
  const { nodes } = swarm;
  const { ofRecord } = taskContainers(swarm);

  return {
    /** The ids of what runs on its node. */
    async running(record: ContainerKey): Promise<readonly string[]> {
      const calls = await nodes.engineOf(record.nodeId);
      return (await onNode(ofRecord(calls, record, false))).map(({ Id }) => Id);
    },

    /** Verifies what the engine made of the service, and sets what a service cannot: the limit of swap. */
    async confine({ nodeId, resources }: ContainerRecord, task: Task, cpuMillicores: number): Promise<void> {
      const containerId = containerIdOf(task);
      if (containerId === undefined) return;
      const calls = await nodes.engineOf(nodeId);
      await onNode(requireConfined(calls, containerId));
      await onNode(update(calls, containerId, resources, cpuMillicores));
    },

    /** With the grace of this stop: a swarm only knows that of the start. */
    async stop(record: ContainerRecord, graceSeconds: number): Promise<void> {
      const calls = await nodes.engineOf(record.nodeId).catch(unlessRemoved);
      if (calls === null) return;
      const running = await onNode(ofRecord(calls, record, false));
      await Promise.all(running.map(({ Id }) => onNode(stop(calls, Id, graceSeconds))));
    },

    /** In place: another task would end its programs. */
    async resize(record: ContainerRecord, resources: Resources): Promise<void> {
      const calls = await nodes.engineOf(record.nodeId);
      const cpuMillicores = await cpuMillicoresOf(swarm, record.nodeId);
      for (const { Id } of await onNode(ofRecord(calls, record, false)))
        await onNode(update(calls, Id, resources, cpuMillicores));
    },

    /** Kills and removes what the node has of the container: a volume cannot be removed before. */
    async remove(record: ContainerRecord): Promise<void> {
      const calls = await nodes.engineOf(record.nodeId).catch(unlessRemoved);
      if (calls === null) return;
      const isGone = async (): Promise<boolean> => {
        const found = await ofRecord(calls, record, true);
        await Promise.all(found.map(({ Id }) => removeNow(calls, Id)));
        return found.length === 0;
      };
      if (!(await onNode(pollUntil(isGone, REMOVAL))))
        throw new RuntimeFailure(`a container of ${record.name} is still being removed`);
    },
  };
}

/** An administrator took the node out of the swarm: nothing of it is left to remove. */
function unlessRemoved(error: unknown): null {
  if (error instanceof NodeRemoved) return null;
  throw error;
}

/** 304 (already stopped) and 404 (gone) count as stopped. */
function stop(calls: EngineCalls, containerId: string, graceSeconds: number): Promise<unknown> {
  const stopping = (abortSignal: AbortSignal) =>
    orNull([304, 404], calls.docker.getContainer(containerId).stop({ t: graceSeconds, abortSignal }));
  return calls.change(graceSeconds + LIMITS.list, stopping, { runtimeId: containerId });
}

/** One that has ended meanwhile needs no limits. */
async function update(
  calls: EngineCalls,
  containerId: string,
  resources: Resources,
  hostCpuMillicores: number,
): Promise<void> {
  const limits = limitsOf(resources, { hostCpuMillicores });
  const updating = (abortSignal: AbortSignal) =>
    orNull([404, 409], calls.docker.getContainer(containerId).update({ ...limits, abortSignal }));
  const updated = calls.change(LIMITS.start, updating, { runtimeId: containerId });
  await updated.catch(nullWhenStopped);
}
