import { randomUUID } from 'node:crypto';
import { within } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { layerMb } from '../../../domain/containers/layer/layer-usage.ts';
import type { RoleSetup } from '../../../domain/containers/role-setup.ts';
import {
  type Snapshot,
  type SnapshotRequest,
  snapshotFaults,
  snapshotMb,
  snapshotVolume,
} from '../../../domain/containers/snapshots/snapshot.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { FieldFaults } from '../../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import {
  type NewSnapshot,
  SnapshotNameTaken,
} from '../../../ports/containers/snapshots/snapshot-repository.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { Note } from '../../idempotency.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { checkHostDisk, measure, REQUEST_SECONDS } from '../disk-quota.ts';
import { findOwn, findOwnInEngine, handleOf } from '../find-container.ts';
import type { Prepare } from '../operations/begin-operation.ts';
import { pinged } from '../operations/operation-deps.ts';
import { makeSnapshotRoom } from './snapshot-room.ts';

/** A container to be copied, and the disk that the copy will use. */
export type Source = {
  readonly container: Container;
  readonly layerMb: number;
  readonly volumeMb: number;
};

/**
 * Takes a snapshot of the caller's container, which is paused while it is copied, and waits up to `createWaitMs` for
 * it. The snapshot is `creating` until then. `note` records the id in the row's transaction.
 */
export const takeSnapshot =
  (deps: ContainerDeps) =>
  async (
    id: string,
    request: SnapshotRequest,
    caller: Caller,
    origin: RequestOrigin,
    note?: Note,
  ): AsyncResult<Snapshot> => {
    const answers = pinged(deps);
    const found = await findSource(deps, id, caller, () => snapshotFaults(request));
    if (!found.ok) return found;
    const hostRoom = await checkHostDisk(deps, snapshotMb(found.value));
    if (!hostRoom.ok) return hostRoom;
    const { dbId } = found.value.container;
    const snapshotId = randomUUID();
    const prepare: Prepare = async (tx) => {
      await tx.users.lock(caller.user.id);
      const now = await findOwn(tx, dbId, caller);
      if (!now.ok) return now;
      const snapshot = newSnapshot(snapshotId, { ...found.value, container: now.value }, request, null);
      const room = await makeSnapshotRoom(tx, caller, snapshotMb(snapshot), false);
      if (!room.ok) return room;
      await tx.snapshots.insert(snapshot);
      await note?.(tx, snapshotId);
      const { name, resources } = now.value;
      return ok({ container: now.value, target: { name, resources } });
    };
    const operation = { kind: 'snapshot', caller, origin, snapshotId } as const;
    const submitted = deps.operations.submit(dbId, operation, prepare, { answers }).catch(nameTaken);
    const finished = await within(deps.settings.createWaitMs, submitted, null);
    if (finished?.ok === false) return finished;
    const snapshot = await deps.storage.repositories.snapshots.findAny(snapshotId);
    // Another operation still has its turn.
    return snapshot === null ? refuse({ code: 'container_busy' }) : ok(snapshot);
  };

/** The refusal of a taken name; throws all else. */
export const nameTaken = (error: unknown): Result<never, DomainError> => {
  if (error instanceof SnapshotNameTaken) return refuse({ code: 'snapshot_name_taken' });
  throw error;
};

/** The caller's container that the engine has, measured. `faultsOf`: what is wrong with the request. */
export async function findSource(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'clock'>,
  id: string,
  caller: Caller,
  faultsOf: (container: Container) => FieldFaults,
): AsyncResult<Source> {
  const found = await findOwnInEngine(deps.storage.repositories, id, caller);
  if (!found.ok) return found;
  if (!deps.runtime.capabilities.takesSnapshots) return refuse({ code: 'not_offered_by_engine' });
  const fields = faultsOf(found.value);
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  if (guestExpired(caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
  const container = found.value;
  const handle = handleOf(container);
  if (handle === null || (await deps.runtime.observe(handle)).kind === 'gone')
    return refuse({ code: 'snapshot_needs_start' });
  const { usedMb, layer = null } = await measure(deps, container, { withinSeconds: REQUEST_SECONDS });
  return ok({
    container,
    layerMb: layer === null ? (container.layerUsedMb ?? 0) : layerMb(layer),
    volumeMb: usedMb ?? container.resources.diskMb,
  });
}

/** The row of a new snapshot. An unfinished setup of the role's tools starts again in containers made from it. */
export function newSnapshot(
  id: string,
  { container, layerMb, volumeMb }: Source,
  { name, note, labels }: SnapshotRequest,
  forkIds: readonly string[] | null,
): NewSnapshot {
  const { ownerId, dbId, imageKey, image, shell, role, roleSetup, resources } = container;
  const roleSetupStatus: RoleSetup['status'] = roleSetup.id === null ? roleSetup.status : 'installing';
  const of = { ownerId, dbId, containerName: container.name, imageKey, image, shell, role, resources };
  const volume = snapshotVolume(id);
  return { id, ...of, roleSetupStatus, name, note, labels, volume, layerMb, volumeMb, forkIds };
}
