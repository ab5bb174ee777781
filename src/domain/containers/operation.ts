import type { Container } from './container.ts';
import type { Resources } from './resources.ts';

/**
 * A change to a container that takes several engine steps. It is recorded before the first step and planned again after
 * each one from what the engine shows, so any process can continue a killed one's operation.
 *
 *   forward --commit--> committed --clean up--> done
 *      |
 *      +--a step fails--> back --undo--> failed
 *      |
 *      +--the engine cannot be observed before the first step--> failed
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
  /** The fresh container is from the warm pool and still has its original limits. */
  readonly unfitted: boolean;
  /** Whether the volume existed before; null until checked. */
  readonly volumeKept: boolean | null;
  /** Keep what was installed outside the volume. */
  readonly carryOver: boolean;
  /** The old container's layer was measured, successfully or not. */
  readonly measured: boolean;
  /** The image with what was installed; null until it exists. */
  readonly snapshotImage: string | null;
  /** Present when it takes a snapshot, or creates from one. */
  readonly snapshot?: SnapshotWork;
  /** Present when it transfers the container: to whom. */
  readonly newOwnerId?: string;
};

export type ObservedState = 'running' | 'paused' | 'stopped' | 'gone';

/** Whether it has programs, which use the volume. */
const isUp = (state: ObservedState): boolean => state === 'running' || state === 'paused';

/** The engine's view of the operation's two containers. */
export type Facts = { readonly old: ObservedState; readonly fresh: ObservedState };

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

const remove = (which: 'old' | 'fresh'): Step => ({ do: 'remove', which });
const start = (which: 'old' | 'fresh'): Step => ({ do: 'start', which });
const commit = (now: 'old' | 'fresh' | 'none'): Step => ({ do: 'commit', now });
const DONE: Step = { do: 'finish', outcome: 'done' };
const UNCHANGED: Step = { do: 'finish', outcome: 'unchanged' };

/** The next step of an operation, given the facts. If a step was not done, the same one is planned again. */
export function nextStep(operation: Operation, facts: Facts): Step {
  switch (operation.phase) {
    case 'forward':
      return forward(operation, facts);
    case 'back':
      return back(operation, facts);
    case 'committed':
      return cleanUp(operation, facts);
  }
}

function forward(operation: Operation, facts: Facts): Step {
  switch (operation.kind) {
    case 'create':
      if (operation.snapshot?.hasVolume === false) return { do: 'fill_volume' };
      return facts.fresh === 'running' && operation.unfitted ? { do: 'fit_fresh' } : runFresh(facts);
    case 'restore':
      return facts.fresh === 'gone' ? { do: 'create_fresh' } : commit('fresh');
    case 'start':
      return forwardStart(operation, facts);
    case 'stop':
      if (isUp(facts.old)) return { do: 'stop_old' };
      return operation.before.state === 'stopped' ? UNCHANGED : commit('old');
    case 'delete':
      if (facts.fresh !== 'gone') return remove('fresh');
      return facts.old === 'gone' ? commit('none') : remove('old');
    case 'update':
      return forwardUpdate(operation, facts);
    case 'snapshot':
      return forwardSnapshot(operation, facts);
    case 'transfer':
      // Its programs are the former owner's.
      return isUp(facts.old) ? { do: 'stop_old' } : commit('old');
  }
}

function runFresh({ fresh }: Facts): Step {
  switch (fresh) {
    case 'gone':
      return { do: 'create_fresh' };
    case 'paused':
    case 'stopped':
      return start('fresh');
    case 'running':
      return commit('fresh');
  }
}

function forwardStart({ before }: Operation, facts: Facts): Step {
  if (facts.fresh !== 'gone') return runFresh(facts);
  switch (facts.old) {
    case 'running':
      return before.state === 'running' ? UNCHANGED : commit('old');
    case 'paused':
    case 'stopped':
      return start('old');
    case 'gone':
      return { do: 'create_fresh' };
  }
}

/** Never two running containers on one volume: the old one is down before the fresh one starts. */
function forwardUpdate(operation: Operation, facts: Facts): Step {
  if (!needsFresh(operation)) return commit('old');
  if (facts.fresh === 'gone') return towardsFresh(operation, facts);
  if (facts.fresh !== 'running') return isUp(facts.old) ? { do: 'stop_old' } : start('fresh');
  return operation.verified ? commit('fresh') : { do: 'verify_fresh' };
}

/** The old container runs as long as possible; only a capture requires it to stop earlier. */
function towardsFresh({ carryOver, measured, snapshotImage }: Operation, { old }: Facts): Step {
  if (old === 'gone') return { do: 'create_fresh' };
  if (!measured) return { do: 'measure_old' };
  if (!carryOver || snapshotImage !== null) return { do: 'create_fresh' };
  return isUp(old) ? { do: 'stop_old' } : { do: 'capture_old' };
}

/**
 * Nothing may write while layer and volume are copied, so a running container is paused. One that was paused from
 * outside stays paused.
 */
function forwardSnapshot(operation: Operation, { old }: Facts): Step {
  const { measured, snapshotImage, snapshot } = operation;
  const isCopied = snapshotImage !== null && snapshot?.hasVolume === true;
  if (isCopied) return mustResume(operation, old) ? { do: 'resume_old' } : commit('old');
  if (!measured) return { do: 'measure_old' };
  if (old === 'running') return { do: 'pause_old' };
  return snapshotImage === null ? { do: 'capture_old' } : { do: 'copy_volume' };
}

const mustResume = ({ snapshot }: Operation, old: ObservedState): boolean =>
  old === 'paused' && snapshot?.hasPaused === true;

/** What must be recorded before a step, so that the work of a killed process can be undone. */
export const intentOf = (operation: Operation, step: Step): Pick<Operation, 'snapshot'> =>
  step.do === 'pause_old' && operation.snapshot !== undefined
    ? { snapshot: { ...operation.snapshot, hasPaused: true } }
    : {};

/** A new name needs no restart; new limits or disk need a fresh container. */
export function needsFresh({ before, target }: Pick<Operation, 'before' | 'target'>): boolean {
  const { memoryMb, cpuMillicores, diskMb } = target.resources;
  const same = before.resources;
  return memoryMb !== same.memoryMb || cpuMillicores !== same.cpuMillicores || diskMb !== same.diskMb;
}

/**
 * Removes what was made and restarts what ran, then restores the row. What the engine did although its answer was lost
 * is committed.
 */
function back(operation: Operation, { old, fresh }: Facts): Step {
  const { kind, before } = operation;
  if (fresh !== 'gone') return remove('fresh');
  if (mustResume(operation, old)) return { do: 'resume_old' };
  if (kind === 'delete' && old === 'gone') return commit('none');
  if (kind === 'start' && old === 'running' && before.state !== 'running') return commit('old');
  if (kind === 'stop' && !isUp(old) && before.state === 'running') return commit('old');
  const isDown = old === 'stopped' || old === 'paused';
  const mustRun = (kind === 'update' || kind === 'transfer') && before.state === 'running';
  if (mustRun && isDown) return start('old');
  return { do: 'put_back' };
}

/** After the commit the row points at the fresh container; the old one is removed. */
function cleanUp(operation: Operation, { old }: Facts): Step {
  return operation.kind === 'update' && needsFresh(operation) && old !== 'gone' ? remove('old') : DONE;
}

/** When an operation met a fault. `touchesEngine`: a step may have reached the engine. */
export type OperationFault = { readonly during: 'observe' | 'step'; readonly touchesEngine: boolean };

/**
 * The reaction to a fault: `back` undoes what was done; `abandon` fails at once, as nothing was done; `leave` retries
 * later.
 */
export function afterFault({ phase }: Operation, fault: OperationFault): 'back' | 'abandon' | 'leave' {
  if (phase !== 'forward') return 'leave';
  if (fault.during === 'step') return 'back';
  return fault.touchesEngine ? 'leave' : 'abandon';
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
