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

/** Whether its programs may use the volume, now or soon. */
export const mayRun = (task: Task): boolean => taskState(task).kind !== 'ended';

/** The number of the start that made the task: each start raises it. */
export const startOf = ({ Spec }: Task): number => Spec.ForceUpdate ?? 0;

const newestFirst = (one: Task, other: Task): number => other.CreatedAt.localeCompare(one.CreatedAt);

/** The task that has, or had last, the container of a service. */
export const presentTask = (tasks: readonly Task[]): Task | null => {
  const sorted = tasks.toSorted(newestFirst);
  return sorted.find((task) => taskState(task).kind === 'running') ?? sorted[0] ?? null;
};

/**
 * What the tasks of an existing service show. One on a lost node runs, as far as anybody knows, until an administrator
 * removes the node. `nodeState`: the swarm's word for it, or `removed`.
 */
export function observed(tasks: readonly Task[], nodeState: string): ObservedContainer {
  const present = presentTask(tasks);
  const state = present === null ? null : taskState(present);
  if (present === null || state === null || state.kind === 'starting')
    return { kind: 'stopped', exitCode: 0 };
  if (state.kind === 'ended') return { kind: 'stopped', exitCode: state.exitCode };
  if (nodeState === 'removed') return { kind: 'stopped', exitCode: KILLED };
  const startedAt = state.kind === 'running' ? state.startedAt : new Date(present.CreatedAt);
  if (nodeState !== 'ready' || state.kind === 'lost') return { kind: 'running', startedAt, isSilent: true };
  return present.DesiredState === 'running'
    ? { kind: 'running', startedAt }
    : { kind: 'running', startedAt, isEnding: true };
}
