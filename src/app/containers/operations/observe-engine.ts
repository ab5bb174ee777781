import { laterOf } from '../../../domain/containers/container.ts';
import type { Facts, ObservedState, OperationKind } from '../../../domain/containers/operation.ts';
import { ENGINE_RETRY_SECONDS } from '../../../domain/fair-queue.ts';
import {
  type ContainerObserver,
  RuntimeBusy,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { FIRST_LEASE } from './new-operation.ts';

/** The container from before the operation; null when there was none. */
export const oldHandle = ({ before }: StoredOperation, node: string): RuntimeHandle | null =>
  before.runtimeId === null ? null : { node, runtimeId: before.runtimeId };

/** The generation of the container that the operation makes: known in advance, so that it is found again. */
export const freshGeneration = ({ before }: StoredOperation): number => before.generation + 1;

/** The container that the operation has made, even if a killed process did not record it. */
export async function freshHandle(
  runtime: ContainerObserver,
  operation: StoredOperation,
  node: string,
): Promise<RuntimeHandle | null> {
  if (operation.freshRuntimeId !== null) return { node, runtimeId: operation.freshRuntimeId };
  return await runtime.find(operation.dbId, freshGeneration(operation));
}

/** They answer that a container runs. */
const CLAIMS_RUNNING: ReadonlySet<OperationKind> = new Set(['create', 'start']);

/** Throws when an operation would claim that something runs whose node does not answer. */
async function stateOf(
  runtime: ContainerObserver,
  { kind, phase }: StoredOperation,
  handle: RuntimeHandle | null,
): Promise<ObservedState> {
  if (handle === null) return 'gone';
  const seen = await runtime.observe(handle);
  if (seen.kind === 'stopped' && seen.isInMaintenance === true) return 'in_maintenance';
  if (seen.kind !== 'running') return seen.kind;
  if (seen.isEnding === true) return 'ending';
  if (seen.isSilent === true && CLAIMS_RUNNING.has(kind) && phase === 'forward')
    throw new RuntimeBusy('container_unresponsive', ENGINE_RETRY_SECONDS);
  return 'running';
}

/** The observed facts, and the container that the operation has made, if any. */
export type EngineObservation = { readonly facts: Facts; readonly freshRuntimeId: string | null };

/** Observes the containers that the operation can touch. Throws when the engine does not answer. */
export async function observe(
  runtime: ContainerObserver,
  operation: StoredOperation,
  node: string,
): Promise<EngineObservation> {
  const observeFresh = async () => {
    const handle = await freshHandle(runtime, operation, node);
    return { state: await stateOf(runtime, operation, handle), runtimeId: handle?.runtimeId ?? null };
  };
  const observingOld = stateOf(runtime, operation, oldHandle(operation, node));
  const hasFresh = mayHaveFresh(operation) || (operation.kind === 'start' && (await observingOld) === 'gone');
  const [old, fresh] = await Promise.all([
    observingOld,
    hasFresh ? observeFresh() : { state: 'gone' as const, runtimeId: null },
  ]);
  return { facts: { old, fresh: fresh.state }, freshRuntimeId: fresh.runtimeId };
}

/** A stop makes no container; a start makes one only in place of one that is gone. */
const MAKES_NONE: ReadonlySet<OperationKind> = new Set(['stop', 'start', 'transfer']);

const mayHaveFresh = ({ kind, freshRuntimeId }: StoredOperation): boolean =>
  freshRuntimeId !== null || !MAKES_NONE.has(kind);

/**
 * Whether the database may be older than the engine: the operation replaces a container that is gone, or another process
 * began it.
 */
const mayBeOutdated = ({ kind, measured, leaseNumber }: StoredOperation): boolean =>
  leaseNumber > FIRST_LEASE || kind === 'start' || kind === 'restore' || (kind === 'update' && !measured);

/**
 * Two containers must never run on one volume. If the engine runs a later one than the database knows, this fails until
 * the reconciler has adopted or stopped it.
 */
export async function requireLatest(
  runtime: Pick<ContainerObserver, 'list'>,
  operation: StoredOperation,
): Promise<void> {
  if (!mayBeOutdated(operation)) return;
  const ofRow = (await runtime.list()).filter(({ dbId }) => dbId === operation.dbId);
  const later = laterOf({ generation: freshGeneration(operation) }, ofRow);
  if (later === null || later.state === 'stopped') return;
  const words = `a container of generation ${later.generation} runs, which the database does not know`;
  throw new RuntimeBusy('container_unresponsive', ENGINE_RETRY_SECONDS, { cause: new Error(words) });
}
