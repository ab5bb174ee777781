import { isByAdministrator } from '../../../domain/containers/administration/administration.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { Facts, OperationKind } from '../../../domain/containers/operation.ts';
import { byAdministrator, type ContainerEvent, containerEvent, failedEvent } from '../../../domain/events.ts';
import type { StateChange } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { auditEntry } from './announce-outcome.ts';
import { changeRow, recreationOf } from './commit-operation.ts';
import { failSnapshot } from './commit-snapshot.ts';
import { freshGeneration, freshHandle } from './observe-engine.ts';
import type { OperationDeps, OperationState } from './operation-deps.ts';

const FAILED_REASON: { readonly [K in Exclude<OperationKind, 'snapshot'>]: string } = {
  create: 'the engine could not create it',
  start: 'the engine could not start it',
  stop: 'the engine could not stop it',
  update: 'it did not start with its new settings, so the old ones were restored',
  delete: 'the engine could not remove it',
  restore: 'the engine could not create it',
  transfer: 'it could not be given to anybody else',
};

/** Reason of a row whose start left a container on a silent node. The reconciler clears it when the container runs. */
export const NODE_SILENT = 'its node did not answer when it was started';

/** Sets the row to what the engine shows, with the reason. */
export async function putBack(
  deps: OperationDeps,
  operation: StoredOperation,
  { old }: Facts,
): Promise<OperationState> {
  const shown = old === 'running' || old === 'ending' ? 'running' : 'stopped';
  return await endAsFailed(deps, operation, { state: isMadeBy(operation) ? 'deleted' : shown });
}

/**
 * Restores the row, with the reason: for an operation that has not reached the engine, or whose node does not answer.
 * What a start has made on such a node becomes the row's container. `mayHaveMade`: a step may have reached the engine.
 */
export async function abandon(
  deps: OperationDeps,
  operation: StoredOperation,
  { node }: Pick<Container, 'node'>,
  { mayHaveMade }: { readonly mayHaveMade: boolean },
): Promise<OperationState> {
  const before = isMadeBy(operation) ? 'deleted' : operation.before.state;
  const left = mayHaveMade ? await leftOnNode(deps, operation, node) : null;
  return await endAsFailed(deps, operation, left ?? { state: before });
}

/** The container that a start has made, as the engine shows it; null without one. */
async function leftOnNode(
  { runtime }: OperationDeps,
  operation: StoredOperation,
  node: string,
): Promise<StateChange | null> {
  if (operation.kind !== 'start') return null;
  const handle = await freshHandle(runtime, operation, node);
  if (handle === null) return null;
  const { kind } = await runtime.observe(handle);
  if (kind === 'gone') return null;
  const isRunning = kind === 'running';
  return {
    state: isRunning ? 'running' : 'stopped',
    runtimeId: handle.runtimeId,
    generation: freshGeneration(operation),
    started: isRunning,
  };
}

/** Whether the container exists only because of the operation. */
const isMadeBy = ({ kind }: StoredOperation): boolean => kind === 'create' || kind === 'restore';

/** `now`: the new state of the row; a `runtimeId` means that the row gets the new container. */
async function endAsFailed(
  deps: OperationDeps,
  operation: StoredOperation,
  now: StateChange,
): Promise<OperationState> {
  if (operation.kind === 'snapshot') return await failSnapshot(deps, operation);
  const { storage, owner } = deps;
  const isNew = now.runtimeId !== undefined;
  // A container later than its row is a sign of a restored database: one left on a silent node is none.
  const made = isMadeBy(operation) ? { generation: freshGeneration(operation) } : {};
  const failed = isRefusedUpdate(operation, now) ? null : FAILED_REASON[operation.kind];
  const reason = isNew ? NODE_SILENT : failed;
  return await storage.inTransaction(async (tx) => {
    const changed = await changeRow(tx, operation, {
      change: { ...now, ...made, reason },
      recreation: recreationOf(operation, { do: 'commit', now: isNew ? 'fresh' : 'old' }),
      isOurs: () => tx.operations.finish(operation.id, owner, 'failed', { refusal: operation.refusal }),
    });
    const limited = now.started ? await tx.lifetimes.limitToTier(operation.dbId) : null;
    const container = limited ?? changed;
    if (now.started) await tx.audit.append(auditEntry(operation, 'container_started', container));
    // The snapshot still has what was copied.
    if (now.state === 'deleted' && operation.snapshot !== undefined) await tx.retention.purge(operation.dbId);
    const event = failureEvent(operation, container, reason);
    const isForeign = isByAdministrator(operation.requestedBy, container);
    await tx.events.append(isForeign ? byAdministrator(event) : event);
    return { operation: { ...operation, outcome: 'failed' }, container };
  });
}

/** The answer gives the caller the reason, and the container has not changed for anyone else. */
const isRefusedUpdate = (
  { kind, before, refusal, wasDown }: StoredOperation,
  { state }: StateChange,
): boolean => kind === 'update' && refusal !== null && state === before.state && !wasDown;

/** A container that could not be made was in the lists meanwhile. */
function failureEvent(
  { before }: StoredOperation,
  container: Container,
  reason: string | null,
): ContainerEvent {
  const { state } = container;
  if (state === 'deleted') return containerEvent('container_deleted', container);
  if (state === before.state) return failedEvent(container, reason);
  return containerEvent(state === 'running' ? 'container_started' : 'container_stopped', container);
}
