import { nameFaults } from '../../../domain/containers/container.ts';
import { type Snapshot, snapshotMb } from '../../../domain/containers/snapshots/snapshot.ts';
import { snapshotRoom } from '../../../domain/containers/snapshots/snapshot-limits.ts';
import { snapshotEvent } from '../../../domain/events.ts';
import { type Caller, type RequestOrigin, reaches } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { lockCaller } from '../../identity/account/lock-caller.ts';
import { orRollBack } from '../../transaction.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { tierOf } from '../container-limits.ts';
import { nameTaken } from './take-snapshot.ts';

const UNKNOWN = refuse({ code: 'snapshot_not_found' } as const);

/**
 * Undoes a deletion while the snapshot's data is still kept, under its old name or another. It counts like a new one. A
 * repeat changes nothing.
 */
export const restoreSnapshot =
  ({ storage, clock }: Pick<ContainerDeps, 'storage' | 'clock'>) =>
  async (
    given: string,
    name: string | undefined,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<Snapshot> => {
    const id = given.toLowerCase();
    if (!isUuid(id)) return UNKNOWN;
    if (guestExpired(caller.user, clock.now())) return refuse({ code: 'guest_session_expired' });
    const fields = name === undefined ? {} : nameFaults(name);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    return await orRollBack(storage.inTransaction, (tx) => restored(tx, id, name, caller, origin)).catch(
      nameTaken,
    );
  };

async function restored(
  tx: Repositories,
  id: string,
  name: string | undefined,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Snapshot> {
  const { id: userId } = caller.user;
  const isThere = await lockCaller(tx, caller);
  if (!isThere.ok) return isThere;
  const present = await tx.snapshots.find(id, userId);
  if (present !== null) return reaches(caller, present.dbId) ? ok(present) : UNKNOWN;
  const found = await tx.deletedSnapshots.findForUpdate(id, userId);
  if (found === null || !reaches(caller, found.dbId)) return UNKNOWN;
  const [tier, use] = await Promise.all([tierOf(tx, caller), tx.snapshots.use(userId)]);
  const room = snapshotRoom(tier, use, snapshotMb(found), false);
  if (!room.ok) return room;
  const snapshot = await tx.deletedSnapshots.restore(id, name ?? found.name);
  await tx.audit.append({ userId, action: 'snapshot_restored', ...origin, details: id });
  const container = await tx.containers.findAny(found.dbId);
  await tx.events.append(snapshotEvent('snapshot_restored', container, snapshot));
  return ok(snapshot);
}
