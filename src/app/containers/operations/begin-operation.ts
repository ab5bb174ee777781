import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result } from '../../../domain/result.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { orRollBack } from '../../transaction.ts';
import { expectedStep, type KnownAtStart } from './execute-operation.ts';
import { DURING, newOperation, type OperationRequest } from './new-operation.ts';
import { observe } from './observe-engine.ts';
import { LEASE_SECONDS, type OperationDeps } from './operation-deps.ts';

type Prepared = {
  readonly container: Container;
  readonly target: StoredOperation['target'];
  /** A started container from the warm pool that a create takes. */
  readonly warmRuntimeId?: string | null;
};

/** Called each time it is this wish's turn, for the row may have changed while it waited. */
export type Prepare = (tx: Repositories) => Promise<Result<Prepared, DomainError>>;

type BegunOperation = { readonly operation: StoredOperation; readonly begun: KnownAtStart };

/** Writes the operation down and takes its lease; null when another one is in the way. */
export async function beginOperation(
  deps: OperationDeps,
  request: OperationRequest,
  prepare: Prepare,
): Promise<Result<BegunOperation | null, DomainError>> {
  return await orRollBack(deps.storage.inTransaction, async (tx) => {
    const prepared = await prepare(tx);
    return prepared.ok ? ok(await writeDown(deps, tx, request, prepared.value)) : prepared;
  }).catch(nullIfConflict);
}

async function writeDown(
  { runtime, owner }: OperationDeps,
  tx: Repositories,
  request: OperationRequest,
  { container, target, warmRuntimeId = null }: Prepared,
): Promise<BegunOperation> {
  const operation = newOperation(request, container, target, owner, warmRuntimeId);
  const firstStep = expectedStep(operation);
  const { dbId, state, runtimeId } = container;
  // The row before the operation, as in every transaction that writes both: else two could wait for each other.
  const now = await tx.containers.changeState(dbId, [state], { state: DURING[request.kind] });
  // That waits for the end of the operation before, which leaves another row than the one that was prepared.
  if (now?.runtimeId !== runtimeId) throw new OperationConflict(dbId);
  if (!(await tx.operations.begin(operation, LEASE_SECONDS, firstStep))) throw new OperationConflict(dbId);
  // No other process works on it from here on, so the engine can be observed while this is committed.
  const begun: StoredOperation = { ...operation, outcome: null };
  const observing = observe(runtime, begun, container.node);
  observing.catch(() => undefined);
  return { operation: begun, begun: { row: container, firstStep, observing } };
}

/** Another operation is active, or the row is not as it was when this one was prepared. */
class OperationConflict extends Error {
  override name = 'OperationConflict';
}

const nullIfConflict = (error: unknown): Result<null, DomainError> => {
  if (error instanceof OperationConflict) return ok(null);
  throw error;
};
