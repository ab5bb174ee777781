import { LRUCache } from 'lru-cache';
import type { Manager } from '../client/manager.ts';
import type { Service, Task } from '../client/objects.ts';
import type { ListedRecord } from './records.ts';
import { stopped, wantsTask } from './service-spec.ts';
import { startOf, taskState } from './task-states.ts';

/** A swarm creates a task within this time. */
const FORGOTTEN_MS = 300_000;
/** A swarm says no more of a lost task, so it and the node are not asked again for so long. */
const LOST_MS = 60_000;
const MAX_LOST = 10_000;

/** Whether anything of a container runs on its node. */
type RunsOnNode = (record: ListedRecord) => Promise<boolean>;

/** Whether a listed service still asks for a task, though none runs. */
export const mayHaveEnded = ({ wantsTask, runningTasks }: ListedRecord): boolean =>
  wantsTask && runningTasks === 0;

/**
 * Returns a function that scales services whose task has ended to zero, in the background, one pass at a time: the next
 * listing shows what is left. Otherwise an update from outside, such as `docker service update --force`, or a swarm that
 * has dropped the task from its history, starts the container again. What became of a lost task its node knows.
 */
export function scaleDownEnded(
  manager: Manager,
  runsOnNode: RunsOnNode,
): (records: readonly ListedRecord[]) => void {
  let isScaling = false;
  /** When each lost task was asked about. */
  const lost = new LRUCache<string, number>({ max: MAX_LOST });

  async function hasEndedNow(service: Service, record: ListedRecord): Promise<boolean> {
    const tasks = await manager.tasks(record.name);
    if (!tasks.some(isLost)) return hasEnded(service, tasks);
    lost.set(record.name, performance.now());
    return hasEnded(service, tasks, true) && !(await runsOnNode(record));
  }

  async function scaleDown(record: ListedRecord): Promise<void> {
    const service = await manager.service(record.name);
    if (service === null || !wantsTask(service.Spec)) return;
    if (!(await hasEndedNow(service, record))) return;
    const spec = stopped(service.Spec);
    // Of the version that was read: a start since then is left alone.
    if (spec !== null) await manager.tryUpdate(service, spec);
  }

  async function scaleDownAll(records: readonly ListedRecord[]): Promise<void> {
    // One that the swarm does not change holds up no other; the next listing shows it again.
    for (const record of records) {
      const askedMs = lost.get(record.name) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - askedMs >= LOST_MS) await scaleDown(record).catch(() => {});
    }
  }

  return (records) => {
    if (records.length === 0 || isScaling) return;
    isScaling = true;
    void scaleDownAll(records).finally(() => {
      isScaling = false;
    });
  };
}

const isLost = (task: Task): boolean => taskState(task).kind === 'lost';

/** Whether the task of the last start has ended for certain, or was never made. `areLostOver`: none of the lost ones runs. */
export function hasEnded({ Spec, UpdatedAt }: Service, tasks: readonly Task[], areLostOver = false): boolean {
  if (tasks.some((task) => taskState(task).kind !== 'ended' && !(areLostOver && isLost(task)))) return false;
  if (tasks.some((task) => startOf(task) === (Spec.TaskTemplate.ForceUpdate ?? 0))) return true;
  return Date.now() - Date.parse(UpdatedAt ?? '') > FORGOTTEN_MS;
}
