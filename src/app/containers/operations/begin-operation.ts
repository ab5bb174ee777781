import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import { expectedStep, type KnownAtStart } from './execute-operation.ts';
import { newOperation, type OperationRequest, stateDuring, type WarmContainer } from './new-operation.ts';
import { observe } from './observe-engine.ts';
import { type EngineReady, LEASE_SECONDS, type OperationDeps } from './operation-deps.ts';

type Prepared = {
  readonly container: Container;
  readonly target: StoredOperation['target'];
  /** The pool member that a create uses. */
  readonly warm?: WarmContainer | null;
};

/** Called on each attempt, since the row may have changed meanwhile. */
export type Prepare = (tx: Repositories) => AsyncResult<Prepared>;

type BegunOperation = { readonly operation: StoredOperation; readonly begun: KnownAtStart };

/** Records the operation and takes its lease; null while another one is active. */
export const beginOperation = async (
  deps: OperationDeps,
  request: OperationRequest,
  prepare: Prepare,
  engine: Pick<EngineReady, 'observable'> = {},
): AsyncResult<BegunOperation | null> =>
  await orRollBack(deps.storage.inTransaction, async (tx) => {
    const prepared = await prepare(tx);
    // Operations change engine containers, which agents do not have.
    if (prepared.ok && isAgent(prepared.value.container)) return refuse({ code: 'not_for_agents' });
    return prepared.ok ? ok(await writeDown(deps, tx, request, prepared.value, engine)) : prepared;
  }).catch(nullIfConflict);

async function writeDown(
  { runtime, owner }: OperationDeps,
  tx: Repositories,
  request: OperationRequest,
  { container, target, warm = null }: Prepared,
  { observable = Promise.resolve() }: Pick<EngineReady, 'observable'>,
): Promise<BegunOperation> {
  const operation = newOperation(request, container, target, owner, warm);
  const firstStep = expectedStep(operation);
  const { dbId, ownerId, state, stateReason, runtimeId } = container;
  const during = stateDuring(request.kind, state);
  const reason = during === state ? stateReason : null;
  // The row before the operation, as in every transaction, against deadlocks.
  const [now, hasLease] = await Promise.all([
    tx.containers.changeState(dbId, [state], { state: during, reason }),
    tx.operations.begin(operation, LEASE_SECONDS, firstStep),
  ]);
  // Taking the lock waited for the previous operation, which left another row, or another owner.
  if (now?.runtimeId !== runtimeId || now.ownerId !== ownerId || !hasLease) throw new OperationConflict(dbId);
  // No other process works on it now, so the engine can be observed during the commit.
  const begun: StoredOperation = { ...operation, outcome: null };
  const observing = observable.then(() => observe(runtime, begun, container.node));
  observing.catch(() => undefined);
  return { operation: begun, begun: { row: container, firstStep, observing } };
}

/** Another operation is active, or the row has changed since it was read. */
class OperationConflict extends Error {
  override name = 'OperationConflict';
}

const nullIfConflict = (error: unknown): Result<null, DomainError> => {
  if (error instanceof OperationConflict) return ok(null);
  throw error;
};
