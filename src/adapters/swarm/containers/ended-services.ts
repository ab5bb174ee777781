import { LRUCache } from 'lru-cache';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { Manager } from '../client/manager.ts';
import type { Service, Task } from '../client/objects.ts';
import type { ListedRecord } from './records.ts';
import { stopped, wantsTask } from './service-spec.ts';
import { startOf, taskState } from './task-states.ts';

/** A swarm creates a task within this time. */
const FORGOTTEN_MS = 300_000;
/** Only its node knows what became of a lost task: how long neither it nor the swarm is asked again. */
const LOST_MS = 60_000;
const MAX_LOST = 10_000;
const NODES_AT_A_TIME = 4;

/** Whether anything of a container runs on its node. */
type RunsOnNode = (record: ListedRecord) => Promise<boolean>;

/** Whether a listed service still asks for a task, though none runs. */
export const mayHaveEnded = ({ wantsTask, runningTasks }: ListedRecord): boolean =>
  wantsTask && runningTasks === 0;

/**
 * Returns a function that scales services whose task has ended to zero, in the background, one pass at a time: the next
 * listing shows what is left. Otherwise an update from outside, such as `docker service update --force`, or a swarm that
 * has dropped the task from its history, starts the container again.
 */
export function scaleDownEnded(
  manager: Manager,
  runsOnNode: RunsOnNode,
): (records: readonly ListedRecord[]) => void {
  let isScaling = false;
  /** When each start whose task is lost was asked about. */
  const lost = new LRUCache<string, number>({ max: MAX_LOST });

  async function hasEndedNow(service: Service, record: ListedRecord, askNode: RunsOnNode): Promise<boolean> {
    const tasks = await manager.tasks(record.name);
    if (!tasks.some(isLost)) return hasEnded(service, tasks);
    lost.set(startIn(record), performance.now());
    return hasEnded(service, tasks, true) && !(await askNode(record));
  }

  async function scaleDown(record: ListedRecord, askNode: RunsOnNode): Promise<void> {
    const service = await manager.service(record.name);
    if (service === null || !wantsTask(service.Spec)) return;
    if (!(await hasEndedNow(service, record, askNode))) return;
    const spec = stopped(service.Spec);
    // Of the version that was read: a start since then is left alone.
    if (spec !== null) await manager.tryUpdate(service, spec);
  }

  async function scaleDownOn(records: readonly ListedRecord[]): Promise<void> {
    const askNode = untilFault(runsOnNode);
    // One that the swarm does not change holds up no other; the next listing shows it again.
    for (const record of records) {
      const askedMs = lost.get(startIn(record)) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - askedMs >= LOST_MS) await scaleDown(record, askNode).catch(() => {});
    }
  }

  const scaleDownAll = (records: readonly ListedRecord[]): Promise<void> =>
    forEachAtMost(NODES_AT_A_TIME, byNode(records), scaleDownOn);

  return (records) => {
    if (records.length === 0 || isScaling) return;
    isScaling = true;
    void scaleDownAll(records).finally(() => {
      isScaling = false;
    });
  };
}

const startIn = ({ name, starts }: ListedRecord): string => `${name} ${starts}`;

function byNode(records: readonly ListedRecord[]): readonly (readonly ListedRecord[])[] {
  const groups = new Map<string, ListedRecord[]>();
  for (const record of records) {
    const group = groups.get(record.nodeId);
    if (group === undefined) groups.set(record.nodeId, [record]);
    else group.push(record);
  }
  return [...groups.values()];
}

/** Repeats the first fault without another question: a silent node takes its time for each. */
function untilFault(ask: RunsOnNode): RunsOnNode {
  let fault: { readonly error: unknown } | null = null;
  return async (record) => {
    if (fault !== null) throw fault.error;
    return await ask(record).catch((error: unknown) => {
      fault = { error };
      throw error;
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
