import type { AuditAction } from '../../domain/audit.ts';
import { CONTAINER_STATES, type Container } from '../../domain/container.ts';
import { containerEvent, type EventType } from '../../domain/events.ts';
import { type Facts, needsFresh, nextStep, type OperationKind, type Step } from '../../domain/operation.ts';
import type { StateChange } from '../../ports/container-repository.ts';
import type { StoredOperation } from '../../ports/operation-repository.ts';
import type { Repositories } from '../../ports/repositories.ts';
import { LeaseLost, type OperationDeps } from './deps.ts';
import { freshGeneration } from './look.ts';

const ANNOUNCED: { readonly [K in OperationKind]: EventType & AuditAction } = {
  create: 'container_created',
  start: 'container_started',
  stop: 'container_stopped',
  update: 'container_updated',
  delete: 'container_deleted',
  restore: 'container_restored',
};

/** Row, audit record, event and the operation's own progress: all of them, or none. */
export async function commit(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
  step: Extract<Step, { do: 'commit' }>,
): Promise<StoredOperation> {
  const committed = { ...operation, phase: 'committed' as const };
  return await storage.inTransaction(async (tx) => {
    if (
      !(await tx.operations.record(operation.id, owner, {
        phase: 'committed',
        step: 'commit',
        volumeKept: operation.volumeKept,
        freshRuntimeId: operation.freshRuntimeId,
      }))
    ) {
      throw new LeaseLost(operation.id);
    }
    const container = await changeRow(tx, operation, changeOf(operation, facts, step));
    const restarted = operation.kind === 'update' && needsFresh(operation);
    await announce(tx, operation, container, restarted);
    const next = nextStep(committed, facts);
    if (next.do !== 'finish') return committed;
    await tx.operations.finish(operation.id, owner, next.outcome);
    return { ...committed, outcome: next.outcome };
  });
}

function changeOf(
  operation: StoredOperation,
  facts: Facts,
  { now }: Extract<Step, { do: 'commit' }>,
): StateChange {
  const { name, resources } = operation.target;
  const settings = operation.kind === 'update' ? { name, resources } : {};
  if (now === 'none') return { state: 'deleted' };
  const running = facts[now] === 'running';
  const state = running ? 'running' : 'stopped';
  const started = running && operation.kind !== 'update' ? { started: true } : {};
  if (now === 'old' || operation.freshRuntimeId === null) return { state, ...settings, ...started };
  return {
    state,
    ...settings,
    runtimeId: operation.freshRuntimeId,
    generation: freshGeneration(operation),
    started: running,
  };
}

async function changeRow(
  tx: Repositories,
  { dbId }: StoredOperation,
  change: StateChange,
): Promise<Container> {
  const container = await tx.containers.changeState(dbId, CONTAINER_STATES, change);
  if (container === null) throw new Error(`the row of container ${dbId} is gone`);
  return container;
}

async function announce(
  tx: Repositories,
  { kind, requestedBy, origin, dbId }: StoredOperation,
  container: Container,
  restarted: boolean,
): Promise<void> {
  const type = ANNOUNCED[kind];
  await tx.audit.append({ userId: requestedBy, action: type, ...origin, details: dbId });
  await tx.events.append(containerEvent(type, container, restarted));
}

const FAILED_REASON: { readonly [K in OperationKind]: string } = {
  create: 'the engine could not create it',
  start: 'the engine could not start it',
  stop: 'the engine could not stop it',
  update: 'the new settings did not come up, so the old ones are back',
  delete: 'the engine could not remove it',
  restore: 'the engine could not create it',
};

/** The row says what the engine shows, and why; nothing is announced, for nothing has changed. */
export async function putBack(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
): Promise<StoredOperation> {
  const absent = operation.kind === 'create' || operation.kind === 'restore';
  const state = absent ? 'deleted' : facts.old === 'running' ? 'running' : 'stopped';
  return await storage.inTransaction(async (tx) => {
    if (!(await tx.operations.finish(operation.id, owner, 'failed'))) throw new LeaseLost(operation.id);
    await changeRow(tx, operation, { state, reason: FAILED_REASON[operation.kind] });
    return { ...operation, outcome: 'failed' };
  });
}

/** Nothing had to be done; the row is at rest again. */
export async function leaveUnchanged(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
): Promise<StoredOperation> {
  return await storage.inTransaction(async (tx) => {
    if (!(await tx.operations.finish(operation.id, owner, 'unchanged'))) throw new LeaseLost(operation.id);
    await changeRow(tx, operation, { state: facts.old === 'running' ? 'running' : 'stopped' });
    return { ...operation, outcome: 'unchanged' };
  });
}
