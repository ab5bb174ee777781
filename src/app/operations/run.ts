import type { Container } from '../../domain/container.ts';
import { type Facts, nextStep, type Step } from '../../domain/operation.ts';
import type { StoredOperation } from '../../ports/operation-repository.ts';
import { commit, leaveUnchanged, putBack } from './commit.ts';
import { LeaseLost, type OperationDeps } from './deps.ts';
import { look } from './look.ts';
import { perform } from './perform.ts';

/** Name of a step in the row, in the log and for the fault suite. */
export const stepName = (step: Step): string => ('which' in step ? `${step.do}_${step.which}` : step.do);

/**
 * Carries an operation to its end: look, plan, write the step down, do it. What a step has made true is written with
 * the next one; a killed process loses nothing by that, for all of it can be seen in the engine. After a fault it goes
 * back; once committed, or when going back fails too, the rest is left to whoever takes it over. Answers the finished
 * operation; throws what stopped it.
 */
export async function carryOut(deps: OperationDeps, begun: StoredOperation): Promise<StoredOperation> {
  let operation = begun;
  let fault: unknown;
  while (operation.outcome === null) {
    const container = await rowOf(deps, operation);
    const { facts, freshRuntimeId } = await look(deps.runtime, operation, container.node);
    operation = { ...operation, freshRuntimeId };
    const step = nextStep(operation, facts);
    try {
      await deps.checkpoint(`${operation.kind} before ${stepName(step)}`);
      operation = await take(deps, operation, container, facts, step);
      await deps.checkpoint(`${operation.kind} after ${stepName(step)}`);
    } catch (error) {
      if (error instanceof LeaseLost || operation.phase !== 'forward') throw error;
      deps.log.error({ err: error, dbId: operation.dbId, step: stepName(step) }, 'operation goes back');
      fault = error;
      operation = { ...operation, phase: 'back' };
      await record(deps, operation, 'going back');
    }
  }
  if (operation.outcome === 'failed') throw fault ?? new Error('the operation was put back');
  return operation;
}

async function take(
  deps: OperationDeps,
  operation: StoredOperation,
  container: Container,
  facts: Facts,
  step: Step,
): Promise<StoredOperation> {
  switch (step.do) {
    case 'commit':
      return await commit(deps, operation, facts, step);
    case 'put_back':
      return await putBack(deps, operation, facts);
    case 'finish':
      return await finish(deps, operation, facts, step);
    default:
      await record(deps, operation, stepName(step));
      return { ...operation, ...(await perform(deps, operation, container, step)) };
  }
}

async function rowOf({ storage }: OperationDeps, { dbId }: StoredOperation): Promise<Container> {
  const container = await storage.repositories.containers.findAny(dbId);
  if (container === null) throw new Error(`the row of container ${dbId} is gone`);
  return container;
}

async function finish(
  deps: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
  step: Extract<Step, { do: 'finish' }>,
): Promise<StoredOperation> {
  if (step.outcome === 'unchanged') return await leaveUnchanged(deps, operation, facts);
  const { storage, owner } = deps;
  if (!(await storage.repositories.operations.finish(operation.id, owner, step.outcome))) {
    throw new LeaseLost(operation.id);
  }
  return { ...operation, outcome: step.outcome };
}

/** Writes down where the operation is, before the step is done. */
async function record(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  step: string,
): Promise<void> {
  const { phase, verified, volumeKept, freshRuntimeId, freshImage } = operation;
  const progress = { phase, verified, volumeKept, freshRuntimeId, freshImage, step };
  if (!(await storage.repositories.operations.record(operation.id, owner, progress))) {
    throw new LeaseLost(operation.id);
  }
}
