import { randomUUID } from 'node:crypto';
import type { Container, ContainerState } from '../../../domain/containers/container.ts';
import type { OperationKind } from '../../../domain/containers/operation.ts';
import type { Caller, Origin } from '../../../domain/identity/caller.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';

/** What is asked of a container, and by whom. */
export type Wish = {
  readonly kind: OperationKind;
  readonly caller: Caller;
  readonly origin: Origin;
  readonly carryOver?: boolean;
};

/** What the row says while an operation of that kind is under way. */
export const DURING: { readonly [K in OperationKind]: ContainerState } = {
  create: 'creating',
  start: 'starting',
  stop: 'stopping',
  update: 'updating',
  delete: 'stopping',
  restore: 'creating',
};

/** An operation as it is written down before anything is done. */
export function newOperation(
  wish: Wish,
  container: Container,
  target: StoredOperation['target'],
  owner: string,
  warmRuntimeId: string | null,
): Omit<StoredOperation, 'outcome'> {
  const { state, runtimeId, generation, resources } = container;
  return {
    id: randomUUID(),
    dbId: container.dbId,
    kind: wish.kind,
    phase: 'forward',
    before: { state, runtimeId: wish.kind === 'restore' ? null : runtimeId, generation, resources },
    target,
    verified: false,
    unfitted: warmRuntimeId !== null,
    volumeKept: null,
    requestedBy: wish.caller.user.id,
    origin: wish.origin,
    carryOver: wish.carryOver ?? false,
    measured: false,
    leftBehind: null,
    freshRuntimeId: warmRuntimeId,
    freshImage: null,
    leaseOwner: owner,
  };
}
