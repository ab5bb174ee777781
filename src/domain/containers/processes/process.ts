import { unreachable } from '../../result.ts';
import type { Container } from '../container.ts';
import type { PtySize } from './process-request.ts';
import { signalOfExit } from './signals.ts';

/**
 * A program in a container that belongs to the container, not to the request that started it.
 *
 *   starting --> running --> ended        an inferred end is revised when the process is found running
 *       |                      ^
 *       +----------------------+
 */
export type ProcessState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly pid: number }
  | {
      readonly kind: 'ended';
      readonly pid: number | null;
      readonly endedAt: Date;
      readonly by: EndReason;
      /** As a shell shows it: 128 and the number for a signal. null: nobody has seen it. */
      readonly exitCode: number | null;
    };

export const END_REASONS = ['exit', 'signal', 'timeout', 'container_stopped', 'lost', 'not_started'] as const;
export type EndReason = (typeof END_REASONS)[number];

export type ContainerProcess = {
  readonly id: string;
  readonly dbId: string;
  readonly userId: string;
  /** The engine's container, with which the process ends. */
  readonly runtimeId: string;
  readonly name: string;
  readonly command: readonly string[];
  readonly takesInput: boolean;
  /** The size of its terminal; null without one. */
  readonly terminal: PtySize | null;
  readonly startedAt: Date;
  readonly state: ProcessState;
};

/** Whether a process may have written what nobody read: its container or its supervisor ended before it. */
export const mayLackOutput = ({ state }: Pick<ContainerProcess, 'state'>): boolean =>
  state.kind === 'ended' && UNSEEN_ENDS.includes(state.by);

/** Of processes that had begun to run. */
export const UNSEEN_ENDS: readonly EndReason[] = ['container_stopped', 'lost'];

/** How a process is in its container. */
export type ProcessObservation =
  | { readonly kind: 'running'; readonly pid: number }
  | { readonly kind: 'exited'; readonly exitCode: number; readonly isTimedOut: boolean; readonly at: Date }
  /** It has ended unseen. */
  | { readonly kind: 'lost' }
  /** The container does not know it. */
  | { readonly kind: 'absent' }
  /** The container does not run, or is another one, or has been restarted. */
  | { readonly kind: 'stopped' };

/** How long a start may take until it is assumed to have failed. */
export const START_SECONDS = 60;

/** The state after an observation at this time; null when it stays. */
export function observed(
  process: Pick<ContainerProcess, 'state' | 'startedAt'>,
  observation: ProcessObservation,
  now: Date,
): ProcessState | null {
  const { state } = process;
  const pid = 'pid' in state ? state.pid : null;
  const ended = (by: EndReason): ProcessState => ({ kind: 'ended', pid, endedAt: now, by, exitCode: null });
  if (state.kind === 'ended' && !revises(state.by, observation)) return null;
  switch (observation.kind) {
    case 'running':
      return state.kind === 'running' ? null : { kind: 'running', pid: observation.pid };
    case 'exited':
      return exited(pid, process.startedAt, observation);
    case 'stopped':
      return ended('container_stopped');
    case 'lost':
      return ended('lost');
    case 'absent': {
      if (state.kind === 'running') return ended('lost');
      const isOverdue = now.getTime() - process.startedAt.getTime() >= START_SECONDS * 1000;
      return isOverdue ? ended('not_started') : null;
    }
    default:
      return unreachable(observation);
  }
}

/** Whether an observation refutes an inferred end. A container that was only paused runs on. */
function revises(by: EndReason, { kind }: ProcessObservation): boolean {
  if (by === 'container_stopped') return kind === 'running';
  return (by === 'lost' || by === 'not_started') && (kind === 'running' || kind === 'exited');
}

/** A container knows whole seconds only. */
function exited(
  pid: number | null,
  startedAt: Date,
  { exitCode, isTimedOut, at }: Extract<ProcessObservation, { kind: 'exited' }>,
): ProcessState {
  const by = isTimedOut ? 'timeout' : signalOfExit(exitCode) === null ? 'exit' : 'signal';
  return { kind: 'ended', pid, endedAt: at < startedAt ? startedAt : at, by, exitCode };
}

type OfContainer = Pick<Container, 'state' | 'runtimeId' | 'startedAt'>;

/**
 * How a process is, given its container and what that knows, which is null when it was not asked; null while the
 * container changes, since then nothing is certain.
 */
export function observationOf(
  process: Pick<ContainerProcess, 'id' | 'runtimeId' | 'startedAt'>,
  container: OfContainer,
  seen: ReadonlyMap<string, ProcessObservation> | null,
): ProcessObservation | null {
  if (ENDED_STATES.includes(container.state)) return { kind: 'stopped' };
  if (container.state !== 'running') return null;
  if (container.runtimeId !== process.runtimeId) return { kind: 'stopped' };
  if (seen === null) return null;
  const found = seen.get(process.id) ?? { kind: 'absent' };
  const isSeen = found.kind === 'running' || found.kind === 'exited';
  const isRestarted = container.startedAt !== null && container.startedAt > process.startedAt;
  return isRestarted && !isSeen ? { kind: 'stopped' } : found;
}

const ENDED_STATES: readonly Container['state'][] = ['stopped', 'failed', 'deleted'];
