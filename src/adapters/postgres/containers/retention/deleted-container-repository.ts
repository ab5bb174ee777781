import { sql } from 'kysely';
import type { DeletedContainerRepository } from '../../../../ports/containers/retention/deleted-container-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, COUNT, countOf, firstAs, onlyAs } from '../../sql.ts';
import { containersWithOwner, toContainer } from '../container-repository.ts';

export const postgresDeletedContainers = (db: Db): DeletedContainerRepository => ({
  findForUpdate: (dbId, ownerId) =>
    restorable(db, ownerId).where('c.db_id', '=', dbId).forNoKeyUpdate('c').$call(firstAs(toContainer)),

  listRestorable: (ownerId) =>
    restorable(db, ownerId)
      .where('c.runtime_id', 'is not', null)
      .orderBy('c.deleted_at', 'desc')
      .$call(allAs(toContainer)),

  countKept: (ownerId) => kept(db, ownerId).$call(countOf),

  countGivenUpEphemeral: (ownerId) =>
    kept(db, ownerId).where('ephemeral', '=', true).where('volume_purged_at', 'is not', null).$call(countOf),

  sumKept: () =>
    keptOfAll(db)
      .select([COUNT, sql<number>`coalesce(sum(disk_used_mb), 0)::int`.as('used_mb')])
      .$call(onlyAs(({ count, used_mb }) => ({ count, usedMb: used_mb }))),
});

const kept = (db: Db, ownerId: string) => keptOfAll(db).select(COUNT).where('owner_id', '=', ownerId);

const keptOfAll = (db: Db) =>
  db
    .selectFrom('containers')
    .where('state', '=', 'deleted')
    .where('runtime_id', 'is not', null)
    .where('volume_removed_at', 'is', null);

const restorable = (db: Db, ownerId: string) =>
  containersWithOwner(db)
    .where('c.owner_id', '=', ownerId)
    .where('c.state', '=', 'deleted')
    .where('c.volume_claimed_at', 'is', null)
    .where('c.volume_purged_at', 'is', null);
