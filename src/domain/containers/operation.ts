import type { Container } from './container.ts';
import type { Resources } from './resources.ts';

/**
 * A change to a container that takes several steps in the engine. It is written down before the first step and
 * planned anew after each one from what is seen, so any process can go on where a killed one stopped.
 *
 *   forward --commit--> committed --clean up--> done
 *      |
 *      +--a step fails--> back --undo--> failed
 *      |
 *      +--the engine cannot be looked at before the first step--> failed
 *
 * "old" is the engine's container at the start, "fresh" the one that the operation makes: each has its own
 * generation, so neither can be taken for the other. What was installed in the old one is in an image of its own
 * before the fresh one is made of that, when it shall be kept.
 */
export type OperationKind = 'create' | 'start' | 'stop' | 'update' | 'delete' | 'restore';

export type Operation = {
  readonly id: string;
  readonly dbId: string;
  readonly kind: OperationKind;
  readonly phase: 'forward' | 'back' | 'committed';
  /** The row as it was when the operation was asked for. */
  readonly before: Pick<Container, 'state' | 'runtimeId' | 'generation' | 'resources'>;
  /** What an update or a restore leads to. */
  readonly target: { readonly name: string; readonly resources: Resources };
  /** The fresh container was seen running for a second. */
  readonly verified: boolean;
  /** The fresh container comes from the warm pool and has the limits that it was made with. */
  readonly unfitted: boolean;
  /** Whether the volume was there before anything was made; null until it was looked at. */
  readonly volumeKept: boolean | null;
  /** Keep what was installed outside the volume. */
  readonly carryOver: boolean;
  /** What the old container has outside the volume was looked at, with or without success. */
  readonly measured: boolean;
  /** Image that what was installed is kept in; null until there is one. */
  readonly snapshotImage: string | null;
};

export type ObservedState = 'running' | 'paused' | 'stopped' | 'gone';

/** Whether it has programs, which hold on to the volume. */
const isUp = (state: ObservedState): boolean => state === 'running' || state === 'paused';

/** What the engine says of the two containers that an operation can touch. */
export type Facts = { readonly old: ObservedState; readonly fresh: ObservedState };

export type Step =
  /** Look at what the old container has outside the volume. */
  | { readonly do: 'measure_old' }
  /** Make an image of the old container, which is down. */
  | { readonly do: 'capture_old' }
  | { readonly do: 'create_fresh' }
  | { readonly do: 'start'; readonly which: 'old' | 'fresh' }
  | { readonly do: 'stop_old' }
  /** Give the fresh container the limits that were asked for. */
  | { readonly do: 'fit_fresh' }
  /** Watch the fresh container run for a second. */
  | { readonly do: 'verify_fresh' }
  | { readonly do: 'remove'; readonly which: 'old' | 'fresh' }
  /** Row, audit record and event in one transaction. */
  | { readonly do: 'commit'; readonly now: 'old' | 'fresh' | 'none' }
  /** The row says what the engine shows; announced when that is not what it said before. */
  | { readonly do: 'put_back' }
  | { readonly do: 'finish'; readonly outcome: 'done' | 'unchanged' | 'failed' };

const remove = (which: 'old' | 'fresh'): Step => ({ do: 'remove', which });
const start = (which: 'old' | 'fresh'): Step => ({ do: 'start', which });
const commit = (now: 'old' | 'fresh' | 'none'): Step => ({ do: 'commit', now });
const DONE: Step = { do: 'finish', outcome: 'done' };
const UNCHANGED: Step = { do: 'finish', outcome: 'unchanged' };

/** The next step of an operation, given what is seen now. Asking again after a step that was not done gives it again. */
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

/** The old container runs for as long as possible: only what shall be kept has to hold still. */
function towardsFresh({ carryOver, measured, snapshotImage }: Operation, { old }: Facts): Step {
  if (old === 'gone') return { do: 'create_fresh' };
  if (!measured) return { do: 'measure_old' };
  if (!carryOver || snapshotImage !== null) return { do: 'create_fresh' };
  return isUp(old) ? { do: 'stop_old' } : { do: 'capture_old' };
}

/** A name can change while the container runs; limits and disk come with a container of their own. */
export function needsFresh({ before, target }: Pick<Operation, 'before' | 'target'>): boolean {
  const { memoryMb, cpuMillicores, diskMb } = target.resources;
  const same = before.resources;
  return memoryMb !== same.memoryMb || cpuMillicores !== same.cpuMillicores || diskMb !== same.diskMb;
}

/**
 * What was made is removed, and what ran runs again, before the row is put back. What the engine has done after all,
 * although its answer was lost, is committed.
 */
function back({ kind, before }: Operation, { old, fresh }: Facts): Step {
  if (fresh !== 'gone') return remove('fresh');
  if (kind === 'delete' && old === 'gone') return commit('none');
  if (kind === 'start' && old === 'running' && before.state !== 'running') return commit('old');
  if (kind === 'stop' && !isUp(old) && before.state === 'running') return commit('old');
  const isDown = old === 'stopped' || old === 'paused';
  if (kind === 'update' && isDown && before.state === 'running') return start('old');
  return { do: 'put_back' };
}

/** After the commit the row points at the fresh container; the one that it replaced goes. */
function cleanUp(operation: Operation, { old }: Facts): Step {
  return operation.kind === 'update' && needsFresh(operation) && old !== 'gone' ? remove('old') : DONE;
}

/** What was being done when an operation met a fault. `touchesEngine`: a step of it may have reached the engine. */
export type OperationFault = { readonly during: 'look' | 'step'; readonly touchesEngine: boolean };

/**
 * What a fault leads to: `back`, undo what was done; `abandon`, end it as failed at once, as nothing was done that
 * could need undoing; `leave`, another try goes on with it later.
 */
export function afterFault({ phase }: Operation, fault: OperationFault): 'back' | 'abandon' | 'leave' {
  if (phase !== 'forward') return 'leave';
  if (fault.during === 'step') return 'back';
  return fault.touchesEngine ? 'leave' : 'abandon';
}

/**
 * What the caller is told of an operation: `under_way`, its outcome is still open and may be what was asked for;
 * `failed`, what was asked for is not done and will not be.
 */
export function standing(
  { kind, phase }: Operation,
  outcome: 'done' | 'unchanged' | 'failed' | null,
): 'done' | 'under_way' | 'failed' {
  if (outcome === 'failed') return 'failed';
  if (outcome !== null || phase === 'committed') return 'done';
  // A request that the engine did not answer may still be carried out by it; what is made anew is removed again.
  const mayStillBeDone = phase === 'forward' || kind === 'start' || kind === 'stop' || kind === 'delete';
  return mayStillBeDone ? 'under_way' : 'failed';
}
