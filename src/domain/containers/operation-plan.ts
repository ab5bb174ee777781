import {
  type Facts,
  mayStayStopped,
  needsFresh,
  type ObservedState,
  type Operation,
  type Step,
} from './operation.ts';

const remove = (which: 'old' | 'fresh'): Step => ({ do: 'remove', which });
const start = (which: 'old' | 'fresh'): Step => ({ do: 'start', which });
const commit = (now: 'old' | 'fresh' | 'none'): Step => ({ do: 'commit', now });
const DONE: Step = { do: 'finish', outcome: 'done' };
const UNCHANGED: Step = { do: 'finish', outcome: 'unchanged' };

/** Whether the engine container has programs, which use the volume. */
const isUp = (state: ObservedState): boolean =>
  state === 'running' || state === 'ending' || state === 'paused';

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
    case 'ending':
    case 'paused':
    case 'stopped':
    case 'in_maintenance':
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
    // What ends would soon not run: the engine starts it once it has ended.
    case 'ending':
    case 'paused':
    case 'stopped':
    case 'in_maintenance':
      return start('old');
    case 'gone':
      return { do: 'create_fresh' };
  }
}

/** Never two running containers on one volume: the old one is down before the fresh one starts. */
function forwardUpdate(operation: Operation, facts: Facts): Step {
  if (!needsFresh(operation)) return commit('old');
  if (facts.fresh === 'gone') return towardsFresh(operation, facts);
  if (facts.fresh !== 'running' && isUp(facts.old)) return { do: 'stop_old' };
  // It has the new limits, and starts later.
  if (facts.fresh === 'in_maintenance' && mayStayStopped(operation)) return commit('fresh');
  if (facts.fresh !== 'running') return start('fresh');
  return operation.verified ? commit('fresh') : { do: 'verify_fresh' };
}

/** The old container runs as long as possible; only a capture requires it to stop earlier. */
function towardsFresh({ carryOver, measured, layerImage }: Operation, { old }: Facts): Step {
  if (old === 'gone') return { do: 'create_fresh' };
  if (!measured) return { do: 'measure_old' };
  if (!carryOver || layerImage !== null) return { do: 'create_fresh' };
  return isUp(old) ? { do: 'stop_old' } : { do: 'capture_old' };
}

/**
 * Nothing may write while layer and volume are copied, so a running container is paused. One that was paused from
 * outside stays paused.
 */
function forwardSnapshot(operation: Operation, { old }: Facts): Step {
  const { measured, layerImage, snapshot } = operation;
  const isCopied = layerImage !== null && snapshot?.hasVolume === true;
  if (isCopied) return mustResume(operation, old) ? { do: 'resume_old' } : commit('old');
  if (!measured) return { do: 'measure_old' };
  if (old === 'running') return { do: 'pause_old' };
  return layerImage === null ? { do: 'capture_old' } : { do: 'copy_volume' };
}

const mustResume = ({ snapshot }: Operation, old: ObservedState): boolean =>
  old === 'paused' && snapshot?.hasPaused === true;

/** What must be recorded before a step, so that the work of a killed process can be undone. */
export const intentOf = (operation: Operation, step: Step): Pick<Operation, 'snapshot'> =>
  step.do === 'pause_old' && operation.snapshot !== undefined
    ? { snapshot: { ...operation.snapshot, hasPaused: true } }
    : {};

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
  // What ends would soon not run: the engine starts it once it has ended.
  const isDown = old !== 'running' && old !== 'gone';
  const mustRun = (kind === 'update' || kind === 'transfer') && before.state === 'running';
  // A node in maintenance starts nothing, and may stay so for days.
  if (mustRun && isDown && old !== 'in_maintenance') return start('old');
  return { do: 'put_back' };
}

/** After the commit the row points at the fresh container; the old one is removed. */
const cleanUp = (operation: Operation, { old }: Facts): Step =>
  operation.kind === 'update' && needsFresh(operation) && old !== 'gone' ? remove('old') : DONE;
