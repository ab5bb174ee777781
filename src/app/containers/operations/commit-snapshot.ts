import { CONTAINER_STATES, type Container } from '../../../domain/containers/container.ts';
import { failedEvent, snapshotEvent } from '../../../domain/events.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { LeaseLost, type OperationDeps, type OperationState } from './operation-deps.ts';

const FAILED = 'a snapshot of it could not be taken';

/**
 * Marks the snapshot ready, with audit record and event in one transaction. For a fork only the forks are announced.
 */
export async function commitSnapshot(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
): Promise<OperationState> {
  const { id, snapshot, requestedBy, origin } = operation;
  return await storage.inTransaction(async (tx) => {
    const container = await lockedRow(tx, operation);
    const progress = { phase: 'committed', step: 'commit' } as const;
    if (!(await tx.operations.finish(id, owner, 'done', progress))) throw new LeaseLost(id);
    const taken = snapshot === undefined ? null : await tx.snapshots.settle(snapshot.id, 'ready');
    if (taken !== null && taken.forkIds === null) {
      await tx.audit.append({
        userId: requestedBy,
        action: 'snapshot_created',
        ...origin,
        details: taken.id,
      });
      await tx.events.append(snapshotEvent('snapshot_created', container, taken));
    }
    return { operation: { ...operation, phase: 'committed', outcome: 'done' }, container };
  });
}

/** Marks the snapshot failed: the container is as before, and what was copied is given up. */
export async function failSnapshot(
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
): Promise<OperationState> {
  const { id, snapshot } = operation;
  return await storage.inTransaction(async (tx) => {
    const container = await lockedRow(tx, operation);
    if (!(await tx.operations.finish(id, owner, 'failed'))) throw new LeaseLost(id);
    if (snapshot !== undefined) await tx.snapshots.settle(snapshot.id, 'failed');
    await tx.events.append(failedEvent(container, FAILED));
    return { operation: { ...operation, outcome: 'failed' }, container };
  });
}

/** A snapshot does not change the row. It is locked first, as in every transaction, for the order of events. */
async function lockedRow(tx: Repositories, { dbId }: StoredOperation): Promise<Container> {
  const now = await tx.containers.findAny(dbId);
  const { state, stateReason: reason } = now ?? { state: 'stopped' as const, stateReason: null };
  const container = await tx.containers.changeState(dbId, CONTAINER_STATES, { state, reason });
  if (container === null) throw new Error(`the row of container ${dbId} is gone`);
  return container;
}
