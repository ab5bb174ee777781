import type { Container } from '../../domain/container.ts';
import { type Facts, nextStep, type Operation, type Step } from '../../domain/operation.ts';
import type { StoredOperation } from '../../ports/operation-repository.ts';
import { commit, leaveUnchanged, putBack } from './commit.ts';
import { type Done, LeaseLost, type OperationDeps } from './deps.ts';
import { type Look, look } from './look.ts';
import { type EngineStep, perform } from './perform.ts';

/** Name of a step in the row, in the log and for the fault suite. */
export const stepName = (step: Step): string => ('which' in step ? `${step.do}_${step.which}` : step.do);

/** What its beginning leaves to know: the row, the step that was written down with the operation, and a first look. */
export type Begun = {
  readonly row?: Container;
  readonly firstStep?: string;
  readonly looking?: Promise<Look>;
};

/** The step that comes first if the row is right about the engine. */
export function expectedStep(operation: Operation): string {
  const { state, runtimeId } = operation.before;
  const old = runtimeId === null ? 'gone' : state === 'running' ? 'running' : 'stopped';
  return stepName(nextStep(operation, { old, fresh: operation.unfitted ? 'running' : 'gone' }));
}

/**
 * Carries an operation to its end: look, plan, write the step down, do it. What a step has made true is written with
 * the next one; a killed process loses nothing by that, for all of it can be seen in the engine. After a fault it goes
 * back; once committed, or when going back fails too, the rest is left to whoever takes it over. Answers the finished
 * operation and the row as it has left it; throws what stopped it.
 */
export async function carryOut(
  deps: OperationDeps,
  begun: StoredOperation,
  { row, firstStep, looking }: Begun = {},
): Promise<Done> {
  let operation = begun;
  let fault: unknown;
  // Nobody else changes what the steps need of the row before the operation has ended.
  let container = row ?? (await rowOf(deps, operation));
  let written = firstStep;
  let seen = looking;
  while (operation.outcome === null) {
    const { facts, freshRuntimeId } = await (seen ?? look(deps.runtime, operation, container.node));
    seen = undefined;
    operation = { ...operation, freshRuntimeId };
    const step = nextStep(operation, facts);
    try {
      await deps.checkpoint(`${operation.kind} before ${stepName(step)}`);
      const isWritten = stepName(step) === written;
      const taken = await take(deps, { operation, container }, facts, step, isWritten);
      ({ operation, container } = taken);
      seen = taken.seen;
      written = undefined;
      deps.metrics.stepDone({ kind: operation.kind, step: stepName(step), outcome: 'ok' });
      await deps.checkpoint(`${operation.kind} after ${stepName(step)}`);
    } catch (error) {
      deps.metrics.stepDone({ kind: operation.kind, step: stepName(step), outcome: 'failed' });
      if (error instanceof LeaseLost || operation.phase !== 'forward') throw error;
      deps.log.error({ err: error, dbId: operation.dbId, step: stepName(step) }, 'operation goes back');
      fault = error;
      operation = { ...operation, phase: 'back' };
      await record(deps, operation, 'going back');
    }
  }
  if (operation.outcome === 'failed') throw fault ?? new Error('the operation was put back');
  return { operation, container };
}

/** Where the operation is after a step, with a look at the engine if the step was one. */
type Taken = Done & { readonly seen?: Promise<Look> };

async function take(
  deps: OperationDeps,
  { operation, container }: Done,
  facts: Facts,
  step: Step,
  isWritten: boolean,
): Promise<Taken> {
  switch (step.do) {
    case 'commit':
      return await commit(deps, operation, facts, step);
    case 'put_back':
      return await putBack(deps, operation, facts);
    case 'finish':
      return await finish(deps, { operation, container }, facts, step);
    default:
      if (!isWritten) await record(deps, operation, stepName(step));
      return await inEngine(deps, { operation, container }, facts, step);
  }
}

/** Looks again only when the step has not shown by itself what is there now. */
async function inEngine(
  deps: OperationDeps,
  { operation, container }: Done,
  facts: Facts,
  step: EngineStep,
): Promise<Taken> {
  const { oldSeen, ...progress } = await perform(deps, operation, container, step);
  const taken = { operation: { ...operation, ...progress }, container };
  if (oldSeen === undefined) return taken;
  const { freshRuntimeId } = taken.operation;
  return { ...taken, seen: Promise.resolve({ facts: { ...facts, old: oldSeen }, freshRuntimeId }) };
}

/** The container that an operation is about. */
export async function rowOf({ storage }: OperationDeps, { dbId }: StoredOperation): Promise<Container> {
  const container = await storage.repositories.containers.findAny(dbId);
  if (container === null) throw new Error(`the row of container ${dbId} is gone`);
  return container;
}

async function finish(
  deps: OperationDeps,
  { operation, container }: Done,
  facts: Facts,
  step: Extract<Step, { do: 'finish' }>,
): Promise<Done> {
  if (step.outcome === 'unchanged') return await leaveUnchanged(deps, operation, facts);
  const { storage, owner } = deps;
  if (!(await storage.repositories.operations.finish(operation.id, owner, step.outcome))) {
    throw new LeaseLost(operation.id);
  }
  return { operation: { ...operation, outcome: step.outcome }, container };
}

/** Writes down where the operation is, before the step is done. */
async function record(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  step: string,
): Promise<void> {
  const { phase, verified, unfitted, volumeKept, freshRuntimeId, freshImage } = operation;
  const progress = { phase, verified, unfitted, volumeKept, freshRuntimeId, freshImage, step };
  if (!(await storage.repositories.operations.record(operation.id, owner, progress))) {
    throw new LeaseLost(operation.id);
  }
}
