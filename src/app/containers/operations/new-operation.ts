import { randomUUID } from 'node:crypto';
import type { Container, ContainerState } from '../../../domain/containers/container.ts';
import type { OperationKind } from '../../../domain/containers/operation.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';

/** A requested change of a container, and who requested it. */
export type OperationRequest = {
  readonly kind: OperationKind;
  /** null: the service itself, with `reason`. */
  readonly caller: Caller | null;
  readonly origin: RequestOrigin;
  readonly reason?: string;
  readonly carryOver?: boolean;
  /** To take, or to create from. */
  readonly snapshotId?: string;
  /** Of a transfer. */
  readonly newOwnerId?: string;
  /** Of a transfer: its name from then on. */
  readonly newName?: string;
};

/** A started container of the pool, and whether it already has the requested limits. */
export type WarmContainer = { readonly runtimeId: string; readonly isFitted: boolean };

/** The row's state during an operation; null: unchanged. */
const DURING: { readonly [K in OperationKind]: ContainerState | null } = {
  create: 'creating',
  start: 'starting',
  stop: 'stopping',
  update: 'updating',
  delete: 'stopping',
  restore: 'creating',
  snapshot: null,
  transfer: 'updating',
};

export const stateDuring = (kind: OperationKind, before: ContainerState): ContainerState =>
  DURING[kind] ?? before;

/** The number of the lease that an operation begins with. */
export const FIRST_LEASE = 1;

export function newOperation(
  request: OperationRequest,
  container: Container,
  target: StoredOperation['target'],
  owner: string,
  warm: WarmContainer | null,
): Omit<StoredOperation, 'outcome'> {
  const { state, runtimeId, generation, resources } = container;
  return {
    id: randomUUID(),
    dbId: container.dbId,
    kind: request.kind,
    phase: 'forward',
    before: { state, runtimeId: request.kind === 'restore' ? null : runtimeId, generation, resources },
    target,
    verified: false,
    unfitted: warm?.isFitted === false,
    wasDown: false,
    volumeKept: null,
    requestedBy: request.caller?.user.id ?? null,
    origin: request.origin,
    reason: request.reason ?? null,
    carryOver: request.carryOver ?? false,
    measured: false,
    leftBehind: null,
    refusal: null,
    freshRuntimeId: warm?.runtimeId ?? null,
    layerImage: null,
    leaseOwner: owner,
    leaseNumber: FIRST_LEASE,
    ...(request.snapshotId === undefined
      ? {}
      : { snapshot: { id: request.snapshotId, hasPaused: false, hasVolume: false } }),
    ...(request.newOwnerId === undefined ? {} : { newOwnerId: request.newOwnerId }),
  };
}
