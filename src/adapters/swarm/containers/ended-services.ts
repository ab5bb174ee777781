import type { Manager } from '../client/manager.ts';
import type { Service, Task } from '../client/objects.ts';
import type { ListedRecord } from './records.ts';
import { isUp, stopped } from './service-spec.ts';
import { startOf, taskState } from './task-states.ts';

/** A swarm makes a task sooner than that. */
const FORGOTTEN_MS = 300_000;

/** Whether a listed service still asks for a task, though none runs. */
export const mayHaveEnded = ({ isUp, runningTasks }: ListedRecord): boolean => isUp && runningTasks === 0;

/**
 * Ends the wish of services for a task that has ended. As long as a service has it, an update from outside, such as
 * `docker service update --force`, or a swarm that has forgotten the task, starts the container again.
 */
export function endedServices(manager: Manager) {
  let isUnderWay = false;

  async function settle(name: string): Promise<void> {
    const service = await manager.service(name);
    if (service === null || !isUp(service.Spec)) return;
    if (!hasEnded(service, await manager.tasks(name))) return;
    const spec = stopped(service.Spec);
    // Of the version that was read: a start since then is left alone.
    if (spec !== null) await manager.tryUpdate(service, spec);
  }

  async function settleAll(records: readonly ListedRecord[]): Promise<void> {
    // One that the swarm does not change holds up no other; the next listing shows it again.
    for (const { name } of records) await settle(name).catch(() => {});
  }

  return {
    /** In the background, one pass at a time: the next listing shows what is left. */
    settle(records: readonly ListedRecord[]): void {
      if (records.length === 0 || isUnderWay) return;
      isUnderWay = true;
      void settleAll(records).finally(() => {
        isUnderWay = false;
      });
    },
  };
}

/** Whether the task of the last start has ended for certain, or was never made. */
export function hasEnded({ Spec, UpdatedAt }: Service, tasks: readonly Task[]): boolean {
  if (tasks.some((task) => taskState(task).kind !== 'ended')) return false;
  if (tasks.some((task) => startOf(task) === (Spec.TaskTemplate.ForceUpdate ?? 0))) return true;
  return Date.now() - Date.parse(UpdatedAt ?? '') > FORGOTTEN_MS;
}
