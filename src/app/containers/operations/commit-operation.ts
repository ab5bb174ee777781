import type { AuditAction } from '../../../domain/audit.ts';
import { detailsOfAct, isByAdministrator } from '../../../domain/containers/administration/administration.ts';
import { CONTAINER_STATES, type Container } from '../../../domain/containers/container.ts';
import {
  type Facts,
  needsFresh,
  type OperationKind,
  type Step,
} from '../../../domain/containers/operation.ts';
import { nextStep } from '../../../domain/containers/operation-plan.ts';
import { byAdministrator, containerEvent, type EventType, withReason } from '../../../domain/events.ts';
import type { StateChange } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { type Recreation, syncRoleSetup } from '../role-setup/sync-role-setup.ts';
import { commitSnapshot } from './commit-snapshot.ts';
import { commitTransfer } from './commit-transfer.ts';
import { freshGeneration } from './observe-engine.ts';
import { LeaseLost, type OperationDeps, type OperationState } from './operation-deps.ts';

type Records = { readonly audit: AuditAction; readonly event: EventType };

const both = <T extends EventType & AuditAction>(name: T): Records => ({ audit: name, event: name });

/** For subscribers a restored container is a new one. */
const RECORDS: { readonly [K in Exclude<OperationKind, 'snapshot' | 'transfer'>]: Records } = {
  create: both('container_created'),
  start: both('container_started'),
  stop: both('container_stopped'),
  update: both('container_updated'),
  delete: both('container_deleted'),
  restore: { audit: 'container_restored', event: 'container_created' },
};

/** Row, audit record, event and the operation's progress in one transaction. */
export async function commit(
  deps: OperationDeps,
  operation: StoredOperation,
  facts: Facts,
  step: Extract<Step, { do: 'commit' }>,
): Promise<OperationState> {
  if (operation.kind === 'snapshot') return await commitSnapshot(deps, operation);
  if (operation.kind === 'transfer') return await commitTransfer(deps, operation);
  const { storage, owner, terminals } = deps;
  const committed = { ...operation, phase: 'committed' as const };
  return await storage.inTransaction(async (tx) => {
    const { volumeKept, freshRuntimeId } = operation;
    const progress = { phase: 'committed', step: 'commit', volumeKept, freshRuntimeId } as const;
    const next = nextStep(committed, facts);
    const outcome = next.do === 'finish' ? next.outcome : null;
    const change = changeOf(operation, facts, step);
    const changed = await changeRow(tx, operation, {
      change,
      recreation: recreationOf(operation, step),
      isOurs: () =>
        outcome === null
          ? tx.operations.record(operation.id, owner, progress)
          : tx.operations.finish(operation.id, owner, outcome, progress),
    });
    const limited = change.started ? await tx.lifetimes.limitToTier(operation.dbId) : null;
    const container = limited ?? changed;
    const restarted = operation.kind === 'update' && needsFresh(operation) && container.state === 'running';
    // One after the other: after a failure, statements still waiting could follow the rollback.
    await rememberLayerImage(tx, operation, facts);
    await announce(tx, operation, container, restarted);
    // A restore must not bring participants back.
    if (operation.kind === 'delete') await terminals.endShares(tx, operation.dbId, operation.origin);
    return { operation: { ...committed, outcome }, container };
  });
}

function changeOf(
  operation: StoredOperation,
  facts: Facts,
  { now }: Extract<Step, { do: 'commit' }>,
): StateChange {
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
export function recreationOf(
  operation: StoredOperation,
  { now }: Extract<Step, { do: 'commit' }>,
): Recreation {
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

/** Records who has done it, with the container's name and owner when that is another one. */
export async function appendAudit(
  tx: Repositories,
  { requestedBy, origin, dbId }: StoredOperation,
  action: AuditAction,
  container: Container,
): Promise<void> {
  const details = isByAdministrator(requestedBy, container) ? detailsOfAct(container) : dbId;
  await tx.audit.append({ userId: requestedBy, action, ...origin, details });
}

async function announce(
  tx: Repositories,
  operation: StoredOperation,
  container: Container,
  restarted: boolean,
): Promise<void> {
  const { kind, requestedBy, reason } = operation;
  if (kind === 'snapshot' || kind === 'transfer') return;
  const { audit, event } = RECORDS[kind];
  const isForeign = isByAdministrator(requestedBy, container);
  const announced = withReason(containerEvent(event, container, restarted), reason);
  await Promise.all([
    appendAudit(tx, operation, audit, container),
    tx.events.append(isForeign ? byAdministrator(announced) : announced),
  ]);
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
