import { snapshotRoom } from '../../../domain/containers/snapshots/snapshot-limits.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok } from '../../../domain/result.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { BY_BERTH } from '../../by-berth.ts';
import { tierOf } from '../container-limits.ts';

/**
 * Makes room for another snapshot of `sizeMb`, by giving up deleted ones, oldest first; refuses above the tier's
 * limits. Call it with the owner's row locked.
 */
export async function makeSnapshotRoom(
  tx: Repositories,
  caller: Caller,
  sizeMb: number,
  isForFork: boolean,
): AsyncResult<null> {
  const { id: ownerId } = caller.user;
  const [tier, use] = await Promise.all([tierOf(tx, caller), tx.snapshots.use(ownerId)]);
  const room = snapshotRoom(tier, use, sizeMb, isForFork);
  if (!room.ok) return room;
  if (room.value.mb === 0 && room.value.count === 0) return ok(null);
  for (const details of await tx.snapshotRetention.giveUp(ownerId, room.value))
    await tx.audit.append({ ...BY_BERTH, action: 'snapshot_given_up', details });
  return ok(null);
}
