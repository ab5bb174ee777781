import type { ObservedContainer } from '../../../ports/containers/container-runtime.ts';
import type { Task } from '../client/objects.ts';

/**
 * What a task says of its container.
 * - `starting`: `fault` is why it does not start yet.
 * - `lost`: its node has not reported for a day; it may run there.
 */
export type TaskState =
  | { readonly kind: 'starting'; readonly fault: string | null }
  | { readonly kind: 'running'; readonly startedAt: Date }
  | { readonly kind: 'ended'; readonly exitCode: number; readonly why: string }
  | { readonly kind: 'lost' };

/** The exit code of a program that was killed. */
const KILLED = 137;
/** Programs may write some of them. */
const MAX_WORDS = 300;

const ENDED = ['complete', 'shutdown', 'failed', 'rejected', 'remove'];

export function taskState({ Status }: Task): TaskState {
  const { State, Timestamp, ContainerStatus, Message, Err } = Status;
  if (State === 'running') return { kind: 'running', startedAt: new Date(Timestamp) };
  if (State === 'orphaned') return { kind: 'lost' };
  const words = (Err ?? Message ?? State).slice(0, MAX_WORDS);
  if (!ENDED.includes(State)) return { kind: 'starting', fault: Err ?? null };
  const exitCode = ContainerStatus?.ExitCode ?? (State === 'complete' ? 0 : KILLED);
  return { kind: 'ended', exitCode, why: words };
}

/** Whether its programs may use the volume, now or soon. Whether those of a lost task do, its node knows. */
export const mayRun = (task: Task): boolean => {
  const { kind } = taskState(task);
  return kind === 'running' || kind === 'starting';
};

/** Whether the swarm lets it run. */
export const isWanted = (task: Task): boolean => mayRun(task) && !ENDED.includes(task.DesiredState);

/** Whether the swarm deletes its record soon: it belonged to a service that was scaled down. */
export const isToBeRemoved = ({ DesiredState }: Task): boolean => DesiredState === 'remove';

/** The number of the start that made the task: each start raises it. */
export const startOf = ({ Spec }: Task): number => Spec.ForceUpdate ?? 0;

/** On its node; absent before the node has made it. */
export const containerIdOf = ({ Status }: Task): string | undefined => Status.ContainerStatus?.ContainerID;

const newestFirst = (one: Task, other: Task): number => other.CreatedAt.localeCompare(one.CreatedAt);

/** The task that has, or had last, the container of a service. */
export const presentTask = (tasks: readonly Task[]): Task | null => {
  const sorted = tasks.toSorted(newestFirst);
  return sorted.find((task) => taskState(task).kind === 'running') ?? sorted[0] ?? null;
};

/** What that one says; null without any. */
export function presentState(tasks: readonly Task[]): TaskState | null {
  const present = presentTask(tasks);
  return present === null ? null : taskState(present);
}

/**
 * What the tasks of an existing service show. One on a lost node runs, as far as anybody knows, until an administrator
 * removes the node; one whose node is back is being ended. `nodeState`: the swarm's word for it, or `removed`.
 */
export function observed(tasks: readonly Task[], nodeState: string): ObservedContainer {
  const present = presentTask(tasks);
  const state = presentState(tasks);
  if (present === null || state === null || state.kind === 'starting')
    return { kind: 'stopped', exitCode: 0 };
  if (state.kind === 'ended') return { kind: 'stopped', exitCode: state.exitCode };
  if (nodeState === 'removed') return { kind: 'stopped', exitCode: KILLED };
  const startedAt = state.kind === 'running' ? state.startedAt : new Date(present.CreatedAt);
  if (nodeState !== 'ready') return { kind: 'running', startedAt, isSilent: true };
  return isWanted(present) ? { kind: 'running', startedAt } : { kind: 'running', startedAt, isEnding: true };
}
