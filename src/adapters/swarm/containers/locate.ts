import { LRUCache } from 'lru-cache';
import { ContainerNotRunning, nodeSilent } from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import type { Manager } from '../client/manager.ts';
import { type Nodes, onNode } from '../client/nodes.ts';
import type { Records } from './records.ts';
import { presentTask, taskState } from './task-states.ts';

/** The engine that runs a container, and its id there. */
export type Located = { readonly calls: EngineCalls; readonly containerId: string };

type Address = { readonly nodeId: string; readonly containerId: string };

const MAX_KNOWN = 5_000;

export type Locate = ReturnType<typeof containerLocator>;

type Parts = { readonly manager: Manager; readonly nodes: Nodes; readonly records: Records };

/**
 * Finds the containers of tasks: a swarm runs no programs in them, the engine of their node does. The id of a task's
 * container never changes, so what is known is good until the container does not run.
 */
export function containerLocator({ manager, nodes, records }: Parts) {
  const known = new LRUCache<string, Address>({ max: MAX_KNOWN });

  /** Throws `ContainerNotRunning`. */
  async function look(runtimeId: string): Promise<Address> {
    const record = await records.require(runtimeId);
    const task = presentTask(await manager.tasks(record.name));
    const state = task === null ? null : taskState(task);
    const nodeId = task?.NodeID ?? record.nodeId;
    if (state?.kind === 'lost') throw nodeSilent(new Error(`the node ${nodeId} is lost`));
    const containerId = task?.Status.ContainerStatus?.ContainerID;
    if (state?.kind !== 'running' || containerId === undefined)
      throw new ContainerNotRunning(`container ${runtimeId} does not run`, false);
    return { nodeId, containerId };
  }

  const at = async ({ nodeId, containerId }: Address): Promise<Located> => ({
    calls: await nodes.engineOf(nodeId),
    containerId,
  });

  return {
    forget: (runtimeId: string): void => void known.delete(runtimeId),
    /**
     * Does the work where a running container is. When it does not run there any more, it is looked for once more. The
     * work must have changed nothing when it throws `ContainerNotRunning`.
     */
    async inside<T>(runtimeId: string, work: (located: Located) => Promise<T>): Promise<T> {
      const before = known.get(runtimeId);
      const address = before ?? (await look(runtimeId));
      known.set(runtimeId, address);
      try {
        return await onNode(work(await at(address)));
      } catch (error) {
        if (!(error instanceof ContainerNotRunning)) throw error;
        known.delete(runtimeId);
        if (before === undefined) throw asSeenFromOutside(error);
        const now = await look(runtimeId);
        if (now.containerId === before.containerId) throw asSeenFromOutside(error);
        known.set(runtimeId, now);
        return await onNode(work(await at(now)));
      }
    },
  };
}

/** The container of a task that has just ended may be gone, though its service is not. */
const asSeenFromOutside = (error: ContainerNotRunning): ContainerNotRunning =>
  error.isGone ? new ContainerNotRunning(error.message, false, { cause: error }) : error;
