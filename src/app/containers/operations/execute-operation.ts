import type { Container } from '../../../domain/containers/container.ts';
import {
  afterFault,
  type Facts,
  type Operation,
  type OperationFault,
  recordStop,
  type Step,
  standing,
} from '../../../domain/containers/operation.ts';
import { intentOf, nextStep } from '../../../domain/containers/operation-plan.ts';
import { isContainerUnresponsive } from '../../../ports/containers/container-runtime.ts';
import type { Progress, StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { commit, leaveUnchanged } from './commit-operation.ts';
import { refusalIn } from './engine-refusal.ts';
import { type EngineStep, type Performed, performInEngine } from './engine-steps.ts';
import { abandon, putBack } from './fail-operation.ts';
import { type EngineObservation, observe } from './observe-engine.ts';
import { LeaseLost, NotYet, type OperationDeps, type OperationState } from './operation-deps.ts';

/** Recorded as the step when an operation begins to undo its steps. */
const ROLL_BACK = 'roll_back';

/** A step's name in the row, the log and the fault tests. */
export const stepName = (step: Step): string => ('which' in step ? `${step.do}_${step.which}` : step.do);

/** Values known from `beginOperation`: the row, the recorded step and a first observation. */
export type KnownAtStart = {
  readonly row?: Container;
  readonly firstStep?: string;
  readonly observing?: Promise<EngineObservation>;
};

/** The first step if the row agrees with the engine. */
export function expectedStep(operation: Operation & Pick<StoredOperation, 'freshRuntimeId'>): string {
  const { state, runtimeId } = operation.before;
  const old = runtimeId === null ? 'gone' : state === 'running' ? 'running' : 'stopped';
  return stepName(
    nextStep(operation, { old, fresh: operation.freshRuntimeId === null ? 'gone' : 'running' }),
  );
}

/**
 * Runs an operation: observe, plan, record the step, execute it. New facts are written with the next step; a killed
 * process loses nothing, since the engine shows them. Returns the operation and its row, ended or left open for a
 * retry. Throws the fault of one that has failed or can only be rolled back. `onCommitted`: called when only cleaning up
 * is left.
 */
export async function execute(
  deps: OperationDeps,
  operation: StoredOperation,
  { row, firstStep, observing }: KnownAtStart = {},
  onCommitted: (state: OperationState) => void = () => undefined,
): Promise<OperationState> {
  // Until the operation ends, other processes change nothing in the row that its steps need.
  let current: StepResult = {
    operation,
    container: row ?? (await rowOf(deps, operation)),
    ...(observing && { observation: observing }),
  };
  let recordedStep = firstStep;
  // Without a first step from the caller, another process may have reached the engine before.
  let touchesEngine = firstStep === undefined;
  let fault: unknown;
  while (current.operation.outcome === null) {
    let step: Step | null = null;
    try {
      const { facts, freshRuntimeId } = await (current.observation ??
        observe(deps.runtime, current.operation, current.container.node));
      const operation = recordStop({ ...current.operation, freshRuntimeId }, facts);
      current = { ...withoutObservation(current), operation };
      step = nextStep(current.operation, facts);
      touchesEngine = true;
      current = await countedStep(deps, current, facts, step, stepName(step) === recordedStep);
      recordedStep = undefined;
      if (step.do === 'commit') onCommitted(current);
    } catch (error) {
      fault = error;
      const during = step === null ? 'observe' : 'step';
      const next = await recover(deps, current, error, {
        during,
        touchesEngine,
        isUnresponsive: isContainerUnresponsive(error),
      });
      if (next === null) break;
      current = next;
    }
  }
  if (standing(current.operation, current.operation.outcome) === 'failed')
    throw fault ?? new Error('the operation was rolled back');
  return { operation: current.operation, container: current.container };
}

const withoutObservation = ({ observation: _, ...rest }: StepResult): StepResult => rest;

/** One step, counted, between the checkpoints of fault tests. */
async function countedStep(
  deps: OperationDeps,
  current: StepResult,
  facts: Facts,
  step: Step,
  isRecorded: boolean,
): Promise<StepResult> {
  const { kind } = current.operation;
  const count = (outcome: 'ok' | 'failed') => deps.steps.done({ kind, step: stepName(step), outcome });
  try {
    await deps.steps.checkpoint(`${kind} before ${stepName(step)}`);
    const result = await applyStep(deps, current, facts, step, isRecorded);
    count('ok');
    await deps.steps.checkpoint(`${kind} after ${stepName(step)}`);
    return result;
  } catch (error) {
    count('failed');
    throw error;
  }
}

/** Records how the operation continues after a fault, and returns it; null when a retry decides. */
async function recover(
  deps: OperationDeps,
  { operation, container }: OperationState,
  error: unknown,
  fault: OperationFault,
): Promise<OperationState | null> {
  const { kind, dbId, phase } = operation;
  if (error instanceof NotYet) return null;
  const reaction = error instanceof LeaseLost ? 'leave' : afterFault(operation, fault);
  deps.log.error({ err: error, dbId, kind, phase, reaction }, 'an operation failed');
  if (reaction === 'leave') return null;
  try {
    const failed = { ...operation, refusal: refusalIn(error) };
    if (reaction === 'abandon')
      return await abandon(deps, failed, container, { mayHaveMade: fault.touchesEngine });
    const back = { ...failed, phase: 'back' } as const;
    await record(deps, back, ROLL_BACK);
    return { operation: back, container };
  } catch (err) {
    // Nothing is assumed about a write without an answer: a retry reads what is recorded.
    deps.log.error({ err, dbId, kind }, 'could not record the failure of an operation');
    return null;
  }
}

/** An operation after a step, with an observation if the step made one. */
type StepResult = OperationState &
  Pick<Performed, 'unwritten' | 'upSinceMs'> & { readonly observation?: Promise<EngineObservation> };

async function applyStep(
  deps: OperationDeps,
  current: StepResult,
  facts: Facts,
  step: Step,
  isRecorded: boolean,
): Promise<StepResult> {
  const { operation, container } = current;
  switch (step.do) {
    case 'commit':
      return {
        ...(await commit(deps, operation, facts, step, container)),
        observation: asObservation(facts, operation),
      };
    case 'put_back':
      return await putBack(deps, operation, facts);
    case 'finish':
      return await finish(deps, { operation, container }, facts, step);
    default: {
      const intended = { ...operation, ...intentOf(operation, step) };
      if (!isRecorded || intended.snapshot !== operation.snapshot)
        await record(deps, intended, stepName(step), current.unwritten);
      return await applyEngineStep(deps, { ...current, operation: intended }, facts, step);
    }
  }
}

/** Observes again only when the step has not shown the present state. */
async function applyEngineStep(
  deps: OperationDeps,
  { operation, container, upSinceMs }: StepResult,
  facts: Facts,
  step: EngineStep,
): Promise<StepResult> {
  const { progress, shown, ...left } = await performInEngine(deps, operation, container, step, upSinceMs);
  const result = { operation: { ...operation, ...progress }, container, ...left };
  if (shown === null) return result;
  return { ...result, observation: asObservation({ ...facts, ...shown }, result.operation) };
}

const asObservation = (facts: Facts, { freshRuntimeId }: StoredOperation): Promise<EngineObservation> =>
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
  const { volumeKept, snapshot } = operation;
  const { phase, verified, unfitted, wasDown, freshRuntimeId, layerImage, refusal } = operation;
  const now = { phase, verified, unfitted, wasDown, freshRuntimeId, layerImage, refusal, step };
  // A failed step may have recorded `volumeKept`.
  const volume = volumeKept === null ? {} : { volumeKept };
  const progress = { ...unwritten, ...now, ...volume, ...(snapshot && { snapshot }) };
  if (!(await storage.repositories.operations.record(operation.id, owner, progress))) {
    throw new LeaseLost(operation.id);
  }
}
