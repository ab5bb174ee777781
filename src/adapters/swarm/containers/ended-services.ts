import { LRUCache } from 'lru-cache';
import { fairTurns } from '../../../concurrency/slot-queue.ts';
import type { Manager } from '../client/manager.ts';
import type { Service, Task } from '../client/objects.ts';
import type { ListedRecord } from './records.ts';
import { lastStartOf, stopped, wantsTask } from './service-spec.ts';
import { startOf, taskState } from './task-states.ts';

/** A swarm creates a task within this time. */
const FORGOTTEN_MS = 300_000;
/** Minimum time between two checks of a lost task. Only its node knows what became of it. */
const LOST_RECHECK_MS = 60_000;
const MAX_LOST = 10_000;
const MANAGER_CALLS_AT_A_TIME = 4;

/** Whether anything of a container runs on its node. */
type RunsOnNode = (record: ListedRecord) => Promise<boolean>;

/** `hasLost`: only its node knows whether a lost task still runs. */
type EndedService = { readonly service: Service; readonly hasLost: boolean };

/** Whether a listed service still asks for a task, though none runs. */
export const mayHaveEnded = ({ wantsTask, runningTasks }: ListedRecord): boolean =>
  wantsTask && runningTasks === 0;

/**
 * Returns a function that scales services with an ended task down to zero replicas. It runs in the background, with one
 * pass per node at a time; the next listing retries the rest. Without it, `docker service update --force` or a trimmed
 * task history would start the container again.
 */
export function scaleDownEnded(
  manager: Manager,
  runsOnNode: RunsOnNode,
): (records: readonly ListedRecord[]) => void {
  const busyNodes = new Set<string>();
  /** Limits calls to the manager. A turn is released before the node is asked. */
  const turns = fairTurns({ maxRunning: MANAGER_CALLS_AT_A_TIME, maxWaiting: 1 });
  /** Time of the last check of each lost task, by service and start. */
  const lostCheckedAtMs = new LRUCache<string, number>({ max: MAX_LOST });

  /** Returns the service when its task has ended, as far as the swarm knows. */
  async function endedService(record: ListedRecord): Promise<EndedService | null> {
    const service = await manager.service(record.name);
    if (service === null || !wantsTask(service.Spec)) return null;
    const tasks = await manager.tasks(record.name);
    const hasLost = tasks.some(isLost);
    if (hasLost) lostCheckedAtMs.set(startKey(record), performance.now());
    // Treats lost tasks as ended; `scaleDown` then asks the node.
    return hasEnded(service, tasks, true) ? { service, hasLost } : null;
  }

  async function scaleDown(record: ListedRecord, askNode: RunsOnNode): Promise<void> {
    const ended = await turns.run(record.nodeId, () => endedService(record));
    if (ended === null) return;
    const { service, hasLost } = ended;
    if (hasLost && (await askNode(record))) return;
    const spec = stopped(service.Spec);
    // Of the version that was read: a start since then is left alone.
    if (spec !== null) await turns.run(record.nodeId, () => manager.tryUpdate(service, spec));
  }

  async function scaleDownOn(records: readonly ListedRecord[]): Promise<void> {
    const askNode = untilFault(runsOnNode);
    // One that the swarm does not change holds up no other; the next listing shows it again.
    for (const record of records) {
      const checkedAtMs = lostCheckedAtMs.get(startKey(record)) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - checkedAtMs >= LOST_RECHECK_MS)
        await scaleDown(record, askNode).catch(() => {});
    }
  }

  return (records) => {
    for (const [nodeId, ofNode] of byNode(records)) {
      if (busyNodes.has(nodeId)) continue;
      busyNodes.add(nodeId);
      void scaleDownOn(ofNode).finally(() => busyNodes.delete(nodeId));
    }
  };
}

const startKey = ({ name, starts }: ListedRecord): string => `${name} ${starts}`;

function byNode(records: readonly ListedRecord[]): ReadonlyMap<string, readonly ListedRecord[]> {
  const groups = new Map<string, ListedRecord[]>();
  for (const record of records) {
    const group = groups.get(record.nodeId);
    if (group === undefined) groups.set(record.nodeId, [record]);
    else group.push(record);
  }
  return groups;
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

/**
 * Whether the task of the last start has ended for certain, or was never made. `countLostAsEnded`: a lost task counts as
 * ended.
 */
export function hasEnded(
  { Spec, UpdatedAt }: Service,
  tasks: readonly Task[],
  countLostAsEnded = false,
): boolean {
  if (tasks.some((task) => taskState(task).kind !== 'ended' && !(countLostAsEnded && isLost(task))))
    return false;
  if (tasks.some((task) => startOf(task) === lastStartOf(Spec))) return true;
  return Date.now() - Date.parse(UpdatedAt ?? '') > FORGOTTEN_MS;
}
