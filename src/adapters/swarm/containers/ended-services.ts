import type { Manager } from '../client/manager.ts';
import type { Service, Task } from '../client/objects.ts';
import type { ListedRecord } from './records.ts';
import { stopped, wantsTask } from './service-spec.ts';
import { startOf, taskState } from './task-states.ts';

/** A swarm creates a task within this time. */
const FORGOTTEN_MS = 300_000;

/** Whether a listed service still asks for a task, though none runs. */
export const mayHaveEnded = ({ wantsTask, runningTasks }: ListedRecord): boolean =>
  wantsTask && runningTasks === 0;

/**
 * Returns a function that scales services whose task has ended to zero, in the background, one pass at a time: the next
 * listing shows what is left. Otherwise an update from outside, such as `docker service update --force`, or a swarm that
 * has dropped the task from its history, starts the container again.
 */
export function scaleDownEnded(manager: Manager): (records: readonly ListedRecord[]) => void {
  let isScaling = false;

  async function scaleDown(name: string): Promise<void> {
    const service = await manager.service(name);
    if (service === null || !wantsTask(service.Spec)) return;
    if (!hasEnded(service, await manager.tasks(name))) return;
    const spec = stopped(service.Spec);
    // Of the version that was read: a start since then is left alone.
    if (spec !== null) await manager.tryUpdate(service, spec);
  }

  async function scaleDownAll(records: readonly ListedRecord[]): Promise<void> {
    // One that the swarm does not change holds up no other; the next listing shows it again.
    for (const { name } of records) await scaleDown(name).catch(() => {});
  }

  return (records) => {
    if (records.length === 0 || isScaling) return;
    isScaling = true;
    void scaleDownAll(records).finally(() => {
      isScaling = false;
    });
  };
}

/** Whether the task of the last start has ended for certain, or was never made. */
export function hasEnded({ Spec, UpdatedAt }: Service, tasks: readonly Task[]): boolean {
  if (tasks.some((task) => taskState(task).kind !== 'ended')) return false;
  if (tasks.some((task) => startOf(task) === (Spec.TaskTemplate.ForceUpdate ?? 0))) return true;
  return Date.now() - Date.parse(UpdatedAt ?? '') > FORGOTTEN_MS;
}
