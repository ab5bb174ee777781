import { CONTAINER_STATES, type Container } from '../../../domain/containers/container.ts';
import { type Facts, needsFresh, type Step } from '../../../domain/containers/operation.ts';
import { nextStep } from '../../../domain/containers/operation-plan.ts';
import type { StateChange } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { type Recreation, syncRoleSetup } from '../role-setup/sync-role-setup.ts';
import {
  type AnnouncedOperation,
  announce,
  announcementOf,
  checkAnnounced,
  foreseen,
  UnforeseenRow,
} from './announce-outcome.ts';
import { commitSnapshot } from './commit-snapshot.ts';
import { commitTransfer } from './commit-transfer.ts';
import { freshGeneration } from './observe-engine.ts';
import { LeaseLost, type OperationDeps, type OperationState } from './operation-deps.ts';

type CommitStep = Extract<Step, { do: 'commit' }>;

/** Row, audit record, event and the operation's progress in one transaction. `row`: before it. */
export async function commit(
  deps: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
  step: CommitStep,
  row: Container,
): Promise<OperationState> {
  const { kind } = operation;
  if (kind === 'snapshot') return await commitSnapshot(deps, operation);
  if (kind === 'transfer') return await commitTransfer(deps, operation);
  const announced = { ...operation, kind };
  if (kind !== 'stop' && kind !== 'start') return await commitInOrder(deps, announced, facts, step);
  return await commitAtOnce(deps, announced, facts, step, row).catch((error: unknown) => {
    if (!(error instanceof UnforeseenRow)) throw error;
    return commitInOrder(deps, announced, facts, step);
  });
}

/** In one round trip before the commit: what is announced follows from the row as it was read. */
async function commitAtOnce(
  deps: OperationDeps,
  operation: AnnouncedOperation,
  facts: Facts,
  step: CommitStep,
  row: Container,
): Promise<OperationState> {
  const change = changeOf(operation, facts, step);
  const announcement = announcementOf(operation, foreseen(row, change), false);
  return await deps.storage.inTransaction(async (tx) => {
    // The row first: every transaction locks it first, and events need that order.
    const [{ container: changed, outcome }, limited] = await Promise.all([
      changeWith(deps, tx, operation, facts, step),
      change.started ? tx.lifetimes.limitToTier(operation.dbId) : null,
      announce(tx, announcement),
    ]);
    checkAnnounced(announcement, announcementOf(operation, changed, false));
    const container = limited === null ? changed : { ...limited, roleSetup: changed.roleSetup };
    return { operation: { ...operation, phase: 'committed', outcome }, container };
  });
}

/** Each after the answer to the one before: what is announced follows from the changed row. */
async function commitInOrder(
  deps: OperationDeps,
  operation: AnnouncedOperation,
  facts: Facts,
  step: CommitStep,
): Promise<OperationState> {
  const { kind, dbId, origin } = operation;
  const change = changeOf(operation, facts, step);
  return await deps.storage.inTransaction(async (tx) => {
    const { container: changed, outcome } = await changeWith(deps, tx, operation, facts, step);
    const limited = change.started ? await tx.lifetimes.limitToTier(dbId) : null;
    const container = limited ?? changed;
    const restarted = kind === 'update' && needsFresh(operation) && container.state === 'running';
    await rememberLayerImage(tx, operation, facts);
    await announce(tx, announcementOf(operation, container, restarted));
    // A restore must not bring participants back.
    if (kind === 'delete') await deps.terminals.endShares(tx, dbId, origin);
    return { operation: { ...operation, phase: 'committed', outcome }, container };
  });
}

/** Changes the row, and the operation to committed or to its end. */
async function changeWith(
  { owner }: OperationDeps,
  tx: Repositories,
  operation: StoredOperation,
  facts: Facts,
  step: CommitStep,
) {
  const { id, volumeKept, freshRuntimeId } = operation;
  const progress = { phase: 'committed', step: 'commit', volumeKept, freshRuntimeId } as const;
  const next = nextStep({ ...operation, phase: 'committed' }, facts);
  const outcome = next.do === 'finish' ? next.outcome : null;
  const container = await changeRow(tx, operation, {
    change: changeOf(operation, facts, step),
    recreation: recreationOf(operation, step),
    isOurs: () =>
      outcome === null
        ? tx.operations.record(id, owner, progress)
        : tx.operations.finish(id, owner, outcome, progress),
  });
  return { container, outcome };
}

function changeOf(operation: StoredOperation, facts: Facts, { now }: CommitStep): StateChange {
  const { name, resources } = operation.target;
  const settings = operation.kind === 'update' ? { name, resources } : {};
  const { reason } = operation;
  if (now === 'none') return { state: 'deleted', reason };
  const running = facts[now] === 'running';
  const state = running ? 'running' : 'stopped';
  const started = running && operation.kind !== 'update' ? { started: true } : {};
  if (now === 'old' || operation.freshRuntimeId === null) return { state, reason, ...settings, ...started };
  return {
    state,
    ...settings,
    runtimeId: operation.freshRuntimeId,
    generation: freshGeneration(operation),
    started: running,
  };
}

/** Later recreates start from what an update carried over, or else from the catalogue. */
async function rememberLayerImage(
  { layerImages }: Repositories,
  { kind, dbId, carryOver, layerImage, leftBehind }: StoredOperation,
  { fresh }: Facts,
): Promise<void> {
  if (kind !== 'update' || fresh === 'gone') return;
  if (layerImage !== null) await layerImages.put(dbId, { image: layerImage, changes: leftBehind });
  else if (!carryOver) await layerImages.put(dbId, null);
}

/**
 * Whether the role's tools survive; a changed disk always reinstalls them. Null unless the commit takes the fresh
 * container.
 */
export function recreationOf(operation: StoredOperation, { now }: CommitStep): Recreation {
  if (now !== 'fresh') return null;
  const { before, target, layerImage, snapshot } = operation;
  const sameDisk = before.resources.diskMb === target.resources.diskMb;
  return { wasCarriedOver: (layerImage !== null || snapshot !== undefined) && sameDisk };
}

type RowChange = {
  readonly change: StateChange;
  readonly recreation?: Recreation;
  /** Updates the operation; false when the lease is lost. */
  readonly isOurs: () => Promise<boolean>;
};

/**
 * Changes the row and the operation; throws `LeaseLost`. The row comes first: every transaction locks it first, and
 * events need that order.
 */
export async function changeRow(
  tx: Repositories,
  { id, dbId }: StoredOperation,
  { change, recreation = null, isOurs }: RowChange,
): Promise<Container> {
  const [container, ours] = await Promise.all([
    tx.containers.changeState(dbId, CONTAINER_STATES, change),
    isOurs(),
  ]);
  if (!ours) throw new LeaseLost(id);
  if (container === null) throw new Error(`the row of container ${dbId} is gone`);
  return await syncRoleSetup(tx, container, recreation);
}

/** Nothing had to be done; the row leaves its transitional state. */
export const leaveUnchanged = async (
  { storage, owner }: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
): Promise<OperationState> =>
  await storage.inTransaction(async (tx) => {
    const state = facts.old === 'running' ? 'running' : 'stopped';
    const container = await changeRow(tx, operation, {
      change: { state },
      isOurs: () => tx.operations.finish(operation.id, owner, 'unchanged'),
    });
    return { operation: { ...operation, outcome: 'unchanged' }, container };
  });
