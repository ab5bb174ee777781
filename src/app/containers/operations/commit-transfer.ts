import { detailsOfTransfer } from '../../../domain/containers/administration/administration.ts';
import { CONTAINER_STATES } from '../../../domain/containers/container.ts';
import { Refusal } from '../../../domain/errors.ts';
import { receivedEvent, transferredEvent } from '../../../domain/events.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { LeaseLost, type OperationDeps, type OperationState } from './operation-deps.ts';

/**
 * Changes the owner of a stopped container, and ends its shares, with audit record and an event for each owner in one
 * transaction. Throws `Refusal` when the new owner is gone, and `NameTaken`.
 */
export async function commitTransfer(
  { storage, owner, terminals }: OperationDeps,
  operation: StoredOperation,
): Promise<OperationState> {
  const { id, dbId, newOwnerId = '', target, requestedBy, origin } = operation;
  return await storage.inTransaction(async (tx) => {
    // Before the container, as in every transaction.
    if (!(await tx.users.lock(newOwnerId))) throw new Refusal({ code: 'user_not_found' });
    const before = await tx.containers.changeState(dbId, CONTAINER_STATES, { state: 'stopped' });
    const progress = { phase: 'committed', step: 'commit' } as const;
    if (!(await tx.operations.finish(id, owner, 'done', progress))) throw new LeaseLost(id);
    const container = before && (await tx.containers.transfer(dbId, before.ownerId, newOwnerId, target.name));
    if (before === null || container === null) throw new Error(`the row of container ${dbId} is gone`);
    await terminals.endShares(tx, dbId, origin);
    const details = detailsOfTransfer(before, container);
    await tx.audit.append({ userId: requestedBy, action: 'container_transferred', ...origin, details });
    await tx.events.append(transferredEvent(before, container, requestedBy));
    await tx.events.append(receivedEvent(container));
    return { operation: { ...operation, phase: 'committed', outcome: 'done' }, container };
  });
}
