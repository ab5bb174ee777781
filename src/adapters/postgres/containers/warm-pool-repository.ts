import { type Selectable, sql } from 'kysely';
import type { PoolMember } from '../../../domain/containers/warm-pool.ts';
import type {
  NewMember,
  PoolClaim,
  SeenMember,
  WarmPoolRepository,
} from '../../../ports/containers/warm-pool-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { WarmPoolTable } from '../schema/container-tables.ts';
import type { Db } from '../schema/database-schema.ts';
import { resourceColumns, toResources } from '../shared-columns.ts';
import { allAs, COUNT, changedOne, clockNow, countOf, firstAs, leaseEnd, run, setOf } from '../sql.ts';

export const postgresWarmPool = (db: Db): WarmPoolRepository => ({
  ...poolReads(db),
  ...poolChanges(db),
});

const poolReads = (db: Db): Pick<WarmPoolRepository, 'list' | 'ids'> => ({
  list: (owner, own) =>
    db
      .selectFrom('warm_pool')
      .selectAll()
      .select((eb) =>
        eb
          .or([eb('lease_until', '<=', clockNow), eb.lit(own).and('lease_owner', '=', owner)])
          .as('abandoned'),
      )
      .orderBy('created_at')
      .orderBy('db_id')
      .$call(allAs((row) => ({ ...toMember(row), abandoned: Boolean(row.abandoned) }))),

  ids: () =>
    db
      .selectFrom('warm_pool')
      .select('db_id')
      .$call(setOf((row) => row.db_id)),
});

const poolChanges = (db: Db): Omit<WarmPoolRepository, keyof ReturnType<typeof poolReads>> => ({
  async begin(member, size, owner, leaseSeconds) {
    return await inTransaction(db, async (tx) => {
      // Concurrent counts would both find room.
      await sql`select pg_advisory_xact_lock(hashtext('berth warm pool'))`.execute(tx);
      const count = await tx
        .selectFrom('warm_pool')
        .select(COUNT)
        .where('state', 'in', ['making', 'ready'])
        .$call(countOf);
      if (count >= size) return false;
      const row = { ...toRow(member), lease_owner: owner, lease_until: leaseEnd(leaseSeconds) };
      await tx.insertInto('warm_pool').values(row).execute();
      return true;
    });
  },

  renew: (dbId, owner, leaseSeconds) =>
    db
      .updateTable('warm_pool')
      .set({ lease_until: leaseEnd(leaseSeconds) })
      .where('db_id', '=', dbId)
      .where('lease_owner', '=', owner)
      .where('state', 'in', ['making', 'removing'])
      .$call(run),

  markReady: (dbId, owner, { runtimeId, quota }) =>
    db
      .updateTable('warm_pool')
      .set({ state: 'ready', runtime_id: runtimeId, disk_quota: quota })
      .where('db_id', '=', dbId)
      .where('lease_owner', '=', owner)
      .where('state', '=', 'making')
      .$call(changedOne),

  retire: (member, owner, leaseSeconds) =>
    db
      .updateTable('warm_pool')
      .set({ state: 'removing', lease_owner: owner, lease_until: leaseEnd(leaseSeconds) })
      .where(mayEnd(member, owner))
      .$call(changedOne),

  forget: ({ dbId, state }, owner) =>
    db
      .deleteFrom('warm_pool')
      .where('db_id', '=', dbId)
      .where('lease_owner', '=', owner)
      .where('state', '=', state)
      .where('state', 'in', ['claiming', 'removing'])
      .$call(changedOne),

  leave: (member, owner) => db.deleteFrom('warm_pool').where(mayEnd(member, owner)).$call(changedOne),

  reserve: (wanted, owner, leaseSeconds) =>
    db
      .updateTable('warm_pool')
      .set({ state: 'claiming', lease_owner: owner, lease_until: leaseEnd(leaseSeconds) })
      .where('db_id', '=', oldestReady(db, wanted))
      .returningAll()
      .$call(firstAs(toMember)),
});

/** Unchanged; and ready, this owner's, or of a process that is gone. */
const mayEnd = ({ dbId, state }: SeenMember, owner: string) =>
  sql<boolean>`db_id = ${dbId} and state = ${state}
    and (state = 'ready' or lease_owner = ${owner} or lease_until <= ${clockNow})`;

const oldestReady = (db: Db, { node, image, imageId, quota, diskMb }: PoolClaim) =>
  db
    .selectFrom('warm_pool')
    .select('db_id')
    .where('state', '=', 'ready')
    .where('node', '=', node)
    .where('image', '=', image)
    .where('image_id', '=', imageId)
    .where(sql<boolean>`coalesce(disk_quota = ${quota}, true)`)
    .$if(diskMb !== null, (query) => query.where('disk_mb', '=', diskMb ?? 0))
    .orderBy('created_at')
    .limit(1)
    .forUpdate()
    .skipLocked();

/** In the present transaction, or a new one. */
const inTransaction = <T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);

const memberColumns = toColumns('dbId node image imageId volume');

const toRow = ({ resources, ...member }: NewMember) => ({
  ...memberColumns(member),
  ...resourceColumns(resources),
  state: 'making' as const,
});

const memberFields = fromColumns('dbId state node image imageId volume runtimeId');

const toMember = (row: Selectable<WarmPoolTable>): PoolMember => ({
  ...memberFields(row),
  resources: toResources(row),
  quota: row.disk_quota,
});
