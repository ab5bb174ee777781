import type { DeletedSnapshotRepository } from '../../../../ports/containers/snapshots/deleted-snapshot-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, firstAs, onlyAs } from '../../sql.ts';
import { nameTaken, toSnapshot } from './snapshot-repository.ts';

export const postgresDeletedSnapshots = (db: Db): DeletedSnapshotRepository => {
  const restorable = (ownerId: string) =>
    db
      .selectFrom('snapshots')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .where('deleted_at', 'is not', null)
      .where('fork_ids', 'is', null)
      .where('state', '=', 'ready')
      .where('purged_at', 'is', null)
      .where('claimed_at', 'is', null)
      .where('removed_at', 'is', null);
  return {
    list: (ownerId) =>
      restorable(ownerId).orderBy('deleted_at', 'desc').orderBy('id').$call(allAs(toSnapshot)),
    findForUpdate: (id, ownerId) =>
      restorable(ownerId).where('id', '=', id).forUpdate().$call(firstAs(toSnapshot)),
    restore: (id, name) =>
      db
        .updateTable('snapshots')
        .set({ deleted_at: null, condemned_at: null, name })
        .where('id', '=', id)
        .returningAll()
        .$call(onlyAs(toSnapshot))
        .catch(nameTaken),
  };
};
