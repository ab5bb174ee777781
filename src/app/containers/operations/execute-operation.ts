import type { Container } from '../../../domain/containers/container.ts';
import {
  afterFault,
  type Facts,
  type Operation,
  type OperationFault,
  type Step,
  standing,
} from '../../../domain/containers/operation.ts';
import { intentOf, nextStep } from '../../../domain/containers/operation-plan.ts';
import type { Progress, StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { abandon, commit, leaveUnchanged, putBack } from './commit-operation.ts';
import { type EngineStep, type Performed, performInEngine } from './engine-steps.ts';
import { type EngineObservation, observe } from './observe-engine.ts';
import { LeaseLost, NotYet, type OperationDeps, type OperationState } from './operation-deps.ts';

/** A step's name in the row, the log and the fault tests. */
export const stepName = (step: Step): string => ('which' in step ? `${step.do}_${step.which}` : step.do);

/** Values known from `beginOperation`: the row, the recorded step and a first observation. */
export type KnownAtStart = {
  readonly row?: Container;
  readonly firstStep?: string;
  readonly observing?: Promise<EngineObservation>;
};

/** The first step if the row agrees with the engine. */
export function expectedStep(operation: Operation): string {
  const { state, runtimeId } = operation.before;
  const old = runtimeId === null ? 'gone' : state === 'running' ? 'running' : 'stopped';
  return stepName(nextStep(operation, { old, fresh: operation.unfitted ? 'running' : 'gone' }));
}

/**
 * Runs an operation: observe, plan, record the step, execute it. New facts are written with the next step; a killed
 * process loses nothing, since the engine shows them. Returns the operation and its row, ended or left open for a
 * retry. Throws the fault of one that has failed or can only be rolled back. `onCommitted`: called when only cleaning up
 * is left.
 */
export async function execute(
  deps: OperationDeps,
  begun: StoredOperation,
  { row, firstStep, observing }: KnownAtStart = {},
  onCommitted: (state: OperationState) => void = () => undefined,
): Promise<OperationState> {
  // Until the operation ends, no other process changes the part of the row that steps need.
  let at: StepResult = {
    operation: begun,
    container: row ?? (await rowOf(deps, begun)),
    ...(observing && { observation: observing }),
  };
  let written = firstStep;
  // Another process's steps may have reached the engine.
  let touchesEngine = firstStep === undefined;
  let fault: unknown;
  while (at.operation.outcome === null) {
    let step: Step | null = null;
    try {
      const { facts, freshRuntimeId } = await (at.observation ??
        observe(deps.runtime, at.operation, at.container.node));
      at = { ...withoutObservation(at), operation: { ...at.operation, freshRuntimeId } };
      step = nextStep(at.operation, facts);
      touchesEngine = true;
      at = await takeStep(deps, at, facts, step, stepName(step) === written);
      written = undefined;
      if (step.do === 'commit') onCommitted(at);
    } catch (error) {
      fault = error;
      const during = step === null ? 'observe' : 'step';
      const next = await recover(deps, at, error, { during, touchesEngine });
      if (next === null) break;
      at = next;
    }
  }
  if (standing(at.operation, at.operation.outcome) === 'failed')
    throw fault ?? new Error('the operation was rolled back');
  return { operation: at.operation, container: at.container };
}

const withoutObservation = ({ observation: _, ...rest }: StepResult): StepResult => rest;

/** One step, counted, between the checkpoints of fault tests. */
async function takeStep(
  deps: OperationDeps,
  at: StepResult,
  facts: Facts,
  step: Step,
  isWritten: boolean,
): Promise<StepResult> {
  const { kind } = at.operation;
  const count = (outcome: 'ok' | 'failed') => deps.steps.done({ kind, step: stepName(step), outcome });
  try {
    await deps.steps.checkpoint(`${kind} before ${stepName(step)}`);
    const result = await applyStep(deps, at, facts, step, isWritten);
    count('ok');
    await deps.steps.checkpoint(`${kind} after ${stepName(step)}`);
    return result;
  } catch (error) {
    count('failed');
    throw error;
  }
}

/** The operation's phase after a fault, as recorded; null when a retry decides. */
async function recover(
  deps: OperationDeps,
  { operation, container }: OperationState,
  error: unknown,
  fault: OperationFault,
): Promise<OperationState | null> {
  const { kind, dbId, phase } = operation;
  if (error instanceof NotYet) return null;
  const way = error instanceof LeaseLost ? 'leave' : afterFault(operation, fault);
  deps.log.error({ err: error, dbId, kind, phase, way }, 'an operation failed');
  if (way === 'leave') return null;
  try {
    if (way === 'abandon') return await abandon(deps, operation);
    const back = { ...operation, phase: 'back' } as const;
    await record(deps, back, 'going back');
    return { operation: back, container };
  } catch (err) {
    // Only what is recorded counts, and a commit without an answer stays: a retry finds the operation as it was before
    // the fault.
    deps.log.error({ err, dbId, kind }, 'could not record the failure of an operation');
    return null;
  }
}

/** An operation after a step, with an observation if the step made one. */
type StepResult = OperationState &
  Pick<Performed, 'unwritten' | 'upSinceMs'> & { readonly observation?: Promise<EngineObservation> };

async function applyStep(
  deps: OperationDeps,
  at: StepResult,
  facts: Facts,
  step: Step,
  isWritten: boolean,
): Promise<StepResult> {
  const { operation, container } = at;
  switch (step.do) {
    case 'commit':
      return { ...(await commit(deps, operation, facts, step)), observation: shownAs(facts, operation) };
    case 'put_back':
      return await putBack(deps, operation, facts);
    case 'finish':
      return await finish(deps, { operation, container }, facts, step);
    default: {
      const intended = { ...operation, ...intentOf(operation, step) };
      if (!isWritten || intended.snapshot !== operation.snapshot)
        await record(deps, intended, stepName(step), at.unwritten);
      return await inEngine(deps, { ...at, operation: intended }, facts, step);
    }
  }
}

/** Observes again only when the step has not shown the present state. */
async function inEngine(
  deps: OperationDeps,
  { operation, container, upSinceMs }: StepResult,
  facts: Facts,
  step: EngineStep,
): Promise<StepResult> {
  const { progress, shown, ...left } = await performInEngine(deps, operation, container, step, upSinceMs);
  const result = { operation: { ...operation, ...progress }, container, ...left };
  if (shown === null) return result;
  return { ...result, observation: shownAs({ ...facts, ...shown }, result.operation) };
}

const shownAs = (facts: Facts, { freshRuntimeId }: StoredOperation): Promise<EngineObservation> =>
  Promise.resolve({ facts, freshRuntimeId });

export async function rowOf({ storage }: OperationDeps, { dbId }: StoredOperation): Promise<Container> {
  const container = await storage.repositories.containers.findAny(dbId);
  if (container === null) throw new Error(`the row of container ${dbId} is gone`);
  return container;
}

async function finish(
  deps: OperationDeps,
  { operation, container }: OperationState,
  facts: Facts,
  step: Extract<Step, { do: 'finish' }>,
): Promise<OperationState> {
  if (step.outcome === 'unchanged') return await leaveUnchanged(deps, operation, facts);
  const { storage, owner } = deps;
  if (!(await storage.repositories.operations.finish(operation.id, owner, step.outcome))) {
    throw new LeaseLost(operation.id);
  }
  return { operation: { ...operation, outcome: step.outcome }, container };
}

async function record(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  step: string,
  unwritten: Progress = {},
): Promise<void> {
  const { phase, verified, unfitted, volumeKept, freshRuntimeId, snapshotImage, snapshot } = operation;
  const now = { phase, verified, unfitted, volumeKept, freshRuntimeId, snapshotImage, step };
  const progress = { ...unwritten, ...now, ...(snapshot && { snapshot }) };
  if (!(await storage.repositories.operations.record(operation.id, owner, progress))) {
    throw new LeaseLost(operation.id);
  }
}
