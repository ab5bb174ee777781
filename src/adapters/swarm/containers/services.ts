import { poll, pollUntil } from '../../../concurrency/poll.ts';
import {
  ContainerNotRunning,
  EngineFull,
  ImageUnavailable,
  nodeSilent,
  RuntimeFailure,
} from '../../../ports/containers/container-runtime.ts';
import { patiently } from '../../patiently.ts';
import type { Manager } from '../client/manager.ts';
import type { Service, Task } from '../client/objects.ts';
import type { ContainerRecord } from './records.ts';
import { lastStartOf, type NodeOffer, started, stopped, wantsTask } from './service-spec.ts';
import { isToBeRemoved, isWanted, mayRun, startOf, taskState } from './task-states.ts';

export type Patience = {
  /** For a task to start: its image is on the node already. */
  readonly startSeconds: number;
  /** For what is left of an earlier task, beyond its grace. */
  readonly endSeconds: number;
};

const PATIENCE: Patience = { startSeconds: 60, endSeconds: 30 };
const EVERY_MS = 100;
/** How soon a swarm makes a task that it was asked for. One that it has forgotten, it may never make. */
const MAKES_WITHIN_MS = 5_000;
/** How soon a swarm removes the task of a service that was scaled to zero. */
const REMOVES_WITHIN_MS = 2_000;

/** After these the swarm tries nothing more. */
const NO_IMAGE = /no such image/i;
/** Docker keeps the bridge of a network of the swarm when it dies, and then refuses to make it again. */
const STALE_NETWORK = /network \S+ exists/i;
const CRASHED =
  "the node's engine kept a network from before its crash: see docs/swarm.md#after-a-crash-of-a-node";

/** The engine of the node refuses the network of its containers. */
export class StaleNetwork extends RuntimeFailure {
  override name = 'StaleNetwork';
}

export type Services = ReturnType<typeof taskStarter>;

/** Makes tasks of services, one at a time, and ends them. */
export function taskStarter(manager: Manager, patience = PATIENCE) {
  const endLimits = { withinMs: patience.endSeconds * 1000, everyMs: EVERY_MS };
  const scaleDown = (name: string): Promise<boolean> => manager.updateService(name, stopped);

  /**
   * Asks for a task, or joins an earlier or concurrent attempt. null while an earlier task may still run or is still
   * listed, or while one that was asked for may still be made.
   */
  async function begin(
    { name, runtimeId, resources }: ContainerRecord,
    offer: NodeOffer,
    beganMs: number,
  ): Promise<number | null> {
    const service = await manager.service(name);
    if (service === null) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
    const tasks = await manager.tasks(name);
    const now = lastStartOf(service.Spec);
    if (wantsTask(service.Spec) && tasks.some((task) => startOf(task) === now && isWanted(task))) return now;
    if (tasks.some(mayRun) || isUnsettled(service, tasks, performance.now() - beganMs)) return null;
    // Beside an ended task that it removes in that moment, a swarm can make two for one start.
    const emptied = stopped(service.Spec);
    const isAsked = await manager.tryUpdate(service, emptied ?? started(service.Spec, resources, offer));
    return isAsked && emptied === null ? now + 1 : null;
  }

  return {
    /** Resolves with the running task. One that does not start is not asked for any more. */
    async start(record: ContainerRecord, offer: NodeOffer): Promise<Task> {
      const beganMs = performance.now();
      const number = await poll(() => begin(record, offer, beganMs), endLimits);
      if (number === null) throw nodeSilent(new Error(`an earlier task of ${record.name} may still run`));
      let seen: Task | undefined;
      const verdict = async (): Promise<Task | Error | null> => {
        const tasks = await manager.tasks(record.name);
        const current = tasks.filter((task) => startOf(task) === number);
        seen = current.find(mayRun) ?? current[0];
        return seen === undefined ? null : verdictOf(record, seen);
      };
      const limits = { withinMs: patience.startSeconds * 1000, everyMs: EVERY_MS };
      const outcome = await poll(() => patiently(verdict, null), limits);
      if (outcome !== null && !(outcome instanceof Error)) return outcome;
      await scaleDown(record.name);
      throw outcome ?? lateFault(record, seen);
    },

    /** Asks for no task any more, and waits until none may run. */
    async end({ name }: ContainerRecord): Promise<void> {
      if (!(await scaleDown(name))) return;
      const isOver = async (): Promise<boolean> => !(await manager.tasks(name)).some(mayRun);
      if (!(await pollUntil(() => patiently(isOver, false), endLimits)))
        throw nodeSilent(new RuntimeFailure(`the tasks of ${name} do not end`));
    },
  };
}

/** Whether the swarm has yet to make the task of the last start, or to remove it. */
function isUnsettled({ Spec }: Service, tasks: readonly Task[], waitedMs: number): boolean {
  if (tasks.some(isToBeRemoved)) return true;
  const isListed = tasks.some((task) => startOf(task) === lastStartOf(Spec));
  return wantsTask(Spec) ? !isListed && waitedMs < MAKES_WITHIN_MS : isListed && waitedMs < REMOVES_WITHIN_MS;
}

/** The task that runs, or why it never will; null while that is open. */
function verdictOf({ name }: ContainerRecord, task: Task): Task | Error | null {
  const state = taskState(task);
  switch (state.kind) {
    case 'running':
      // One that is being ended from outside has no verdict before it has.
      return isWanted(task) ? task : null;
    case 'starting':
      return null;
    case 'lost':
      return nodeSilent(new Error(`the node of ${name} is lost`));
    case 'ended':
      return endedAtOnce(name, state.why);
  }
}

function endedAtOnce(name: string, why: string): Error {
  if (NO_IMAGE.test(why)) return new ImageUnavailable(`${name}: ${why}`);
  const words = `the task of ${name} ended at once: ${why}`;
  return STALE_NETWORK.test(why) ? new StaleNetwork(`${words}; ${CRASHED}`) : new RuntimeFailure(words);
}

function lateFault({ name }: ContainerRecord, task: Task | undefined): Error {
  const state = task === undefined ? null : taskState(task);
  const fault = state?.kind === 'starting' ? state.fault : null;
  const words = `the task of ${name} did not start in time: ${fault ?? task?.Status.State ?? 'none was made'}`;
  return task?.Status.State === 'pending' ? new EngineFull(words) : new RuntimeFailure(words);
}
