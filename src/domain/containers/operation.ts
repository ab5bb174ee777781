import type { Container } from './container.ts';
import { type Resources, sameResources } from './resources.ts';

/**
 * A change to a container that takes several engine steps. It is recorded before the first step and planned again after
 * each one from what the engine shows, so any process can continue a killed one's operation.
 *
 *   forward --commit--> committed --clean up--> done
 *      |
 *      +--a step fails--> back --undo--> failed
 *      |                |
 *      |                +--the node of a container being made or started does not answer--> failed
 *      |
 *      +--the same, or the engine cannot be observed before the first step--> failed
 *
 * "old" is the engine's container at the start, "fresh" the one that the operation makes; their generations distinguish
 * them. With `carryOver` an image of the old one is captured first, and the fresh one is made from it.
 */
export type OperationKind =
  | 'create'
  | 'start'
  | 'stop'
  | 'update'
  | 'delete'
  | 'restore'
  | 'snapshot'
  | 'transfer';

/** An operation's work on a snapshot: it takes one, or makes a container from one. */
export type SnapshotWork = {
  readonly id: string;
  /** Whether it has paused the container, or was about to. */
  readonly hasPaused: boolean;
  /** The volume has been copied: into the snapshot, or out of it. */
  readonly hasVolume: boolean;
};

export type Operation = {
  readonly id: string;
  readonly dbId: string;
  readonly kind: OperationKind;
  readonly phase: 'forward' | 'back' | 'committed';
  /** The row at the time of the request. */
  readonly before: Pick<Container, 'state' | 'runtimeId' | 'generation' | 'resources'>;
  /** The result of an update or a restore. */
  readonly target: { readonly name: string; readonly resources: Resources };
  /** The fresh container was observed running for a second. */
  readonly verified: boolean;
  /** The fresh container is from the warm pool and has other limits than requested. */
  readonly unfitted: boolean;
  /** A container that ran when the operation began was observed stopped during it. */
  readonly wasDown: boolean;
  /** Whether the volume existed before; null until checked. */
  readonly volumeKept: boolean | null;
  /** Keep what was installed outside the volume. */
  readonly carryOver: boolean;
  /** The old container's layer was measured, successfully or not. */
  readonly measured: boolean;
  /** The image with what was installed; null until it exists. */
  readonly layerImage: string | null;
  /** Present when it takes a snapshot, or creates from one. */
  readonly snapshot?: SnapshotWork;
  /** Present when it transfers the container: to whom. */
  readonly newOwnerId?: string;
};

/**
 * `ending`: asked to end, and its programs may still run. `in_maintenance`: stopped, on a node that starts no containers
 * now.
 */
export type ObservedState = 'running' | 'ending' | 'paused' | 'stopped' | 'in_maintenance' | 'gone';

/** The engine's view of the operation's two containers. */
export type Facts = { readonly old: ObservedState; readonly fresh: ObservedState };

/** Sets `wasDown` once the container is observed stopped. */
export const recordStop = <T extends Pick<Operation, 'before' | 'wasDown'>>(
  operation: T,
  { old }: Facts,
): T =>
  operation.before.state === 'running' && old !== 'running' && old !== 'paused'
    ? { ...operation, wasDown: true }
    : operation;

export type Step =
  /** Measure the old container's changes outside the volume. */
  | { readonly do: 'measure_old' }
  /** Capture an image of the old container, which is stopped or paused. */
  | { readonly do: 'capture_old' }
  /** Freeze the old container's programs; `hasPaused` is recorded first. */
  | { readonly do: 'pause_old' }
  | { readonly do: 'resume_old' }
  /** Copy the old container's volume into the snapshot. */
  | { readonly do: 'copy_volume' }
  /** Copy the snapshot's volume into the new container's. */
  | { readonly do: 'fill_volume' }
  | { readonly do: 'create_fresh' }
  | { readonly do: 'start'; readonly which: 'old' | 'fresh' }
  | { readonly do: 'stop_old' }
  /** Apply the requested limits to the fresh container. */
  | { readonly do: 'fit_fresh' }
  /** Watch the fresh container run for a second. */
  | { readonly do: 'verify_fresh' }
  | { readonly do: 'remove'; readonly which: 'old' | 'fresh' }
  /** Row, audit record and event in one transaction. */
  | { readonly do: 'commit'; readonly now: 'old' | 'fresh' | 'none' }
  /** Set the row to what the engine shows; announce it if it changed. */
  | { readonly do: 'put_back' }
  | { readonly do: 'finish'; readonly outcome: 'done' | 'unchanged' | 'failed' };

/** A new name needs no restart; new limits or disk need a fresh container. */
export function needsFresh({ before, target }: Pick<Operation, 'before' | 'target'>): boolean {
  return !sameResources(before.resources, target.resources);
}

/** Whether the new container may stay stopped where it cannot be started: none ran before it. */
export const mayStayStopped = ({ kind, before }: Pick<Operation, 'kind' | 'before'>): boolean =>
  kind === 'restore' || (kind === 'update' && before.state === 'stopped');

/**
 * When an operation met a fault. `touchesEngine`: a step may have reached the engine. `isUnresponsive`: the container or
 * its node does not answer, the engine does.
 */
export type OperationFault = {
  readonly during: 'observe' | 'step';
  readonly touchesEngine: boolean;
  readonly isUnresponsive: boolean;
};

/**
 * Kinds that may fail while their new container stays on a silent node. The reconciler removes it after a create or
 * restore; after a start the row keeps it.
 */
const ENDS_WITHOUT_NODE: Readonly<Record<OperationKind, boolean>> = {
  create: true,
  restore: true,
  start: true,
  stop: false,
  update: false,
  delete: false,
  snapshot: false,
  transfer: false,
};

/**
 * The reaction to a fault: `back` undoes what was done; `abandon` fails at once, as nothing was done or nothing can be
 * undone; `leave` retries later.
 */
export function afterFault(operation: Operation, fault: OperationFault): 'back' | 'abandon' | 'leave' {
  const { phase } = operation;
  if (phase === 'committed') return 'leave';
  if (phase === 'forward' && fault.during === 'step') return 'back';
  if (fault.isUnresponsive && ENDS_WITHOUT_NODE[operation.kind]) return 'abandon';
  return phase === 'forward' && !fault.touchesEngine ? 'abandon' : 'leave';
}

/**
 * The state for the caller. `under_way`: the outcome is open and may be the requested one. `failed`: the request is not
 * done and will not be.
 */
export function standing(
  { kind, phase }: Operation,
  outcome: 'done' | 'unchanged' | 'failed' | null,
): 'done' | 'under_way' | 'failed' {
  if (outcome === 'failed') return 'failed';
  if (outcome !== null || phase === 'committed') return 'done';
  // The engine may still carry out an unanswered request; what it makes is removed again.
  const mayStillBeDone = phase === 'forward' || kind === 'start' || kind === 'stop' || kind === 'delete';
  return mayStillBeDone ? 'under_way' : 'failed';
}
