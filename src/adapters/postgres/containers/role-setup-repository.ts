import { type QueryCreator, sql } from 'kysely';
import { type RoleSetup, WAITS } from '../../../domain/containers/role-setup.ts';
import type { RoleSetupRepository } from '../../../ports/containers/role-setup-repository.ts';
import type { Database, Db } from '../schema/database-schema.ts';
import { allAs, clockNow, firstAs, leaseEnd, onlyAs, run } from '../sql.ts';
import { containersWithOwner, ofOwner, toContainer } from './container-repository.ts';

export function postgresRoleSetups(db: Db): RoleSetupRepository {
  const rows = () => db.updateTable('containers as c').from('users as u').whereRef('u.id', '=', 'c.owner_id');
  const mine = (owner: string) => db.updateTable('containers').where('role_setup_owner', '=', owner);

  return {
    findForUpdate: (dbId) =>
      containersWithOwner(db).where('c.db_id', '=', dbId).forNoKeyUpdate('c').$call(firstAs(toContainer)),

    set: (dbId, setup) =>
      rows()
        .set({ ...toColumns(setup), role_setup_owner: null, role_setup_until: null })
        .where('c.db_id', '=', dbId)
        .returningAll('c')
        .returning(ofOwner)
        .$call(onlyAs(toContainer)),

    takeUp: (owner, leaseSeconds, own, limit) =>
      db
        .with('due', (query) => whatIsDue(query, owner, own).limit(limit).forNoKeyUpdate().skipLocked())
        .updateTable('containers as c')
        .from(['users as u', 'due'])
        .whereRef('u.id', '=', 'c.owner_id')
        .whereRef('c.db_id', '=', 'due.db_id')
        .set({
          role_setup_status: 'installing',
          // The text of a waiting one is outdated.
          role_setup_detail: sql<string | null>`nullif(c.role_setup_detail, ${WAITS})`,
          role_setup_owner: owner,
          role_setup_until: leaseEnd(leaseSeconds),
          role_setup_begun_at: clockNow,
        })
        .returningAll('c')
        .returning(ofOwner)
        .$call(allAs(toContainer)),

    async record(id, owner, setup) {
      const over = setup.id === null ? { role_setup_owner: null, role_setup_until: null } : {};
      return await rows()
        .set({ ...toColumns(setup), ...over })
        .where('c.role_setup_id', '=', id)
        .where('c.role_setup_owner', '=', owner)
        .returningAll('c')
        .returning(ofOwner)
        .$call(firstAs(toContainer));
    },

    renew: (ids, owner, leaseSeconds) =>
      mine(owner)
        .set({ role_setup_until: leaseEnd(leaseSeconds) })
        .where('role_setup_id', 'in', ids)
        .$call(run),

    release: (id, owner) =>
      mine(owner).set({ role_setup_until: clockNow }).where('role_setup_id', '=', id).$call(run),
  };
}

/** Of each user the one whose last attempt is longest ago, if none is in progress in a container that runs. */
const whatIsDue = (db: QueryCreator<Database>, owner: string, own: boolean) =>
  db
    .selectFrom('containers as c')
    .select('c.db_id')
    .where('c.role_setup_id', 'is not', null)
    .where('c.state', '=', 'running')
    .where(isFree('c', owner, own))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('containers as other')
            .select('other.db_id')
            .whereRef('other.owner_id', '=', 'c.owner_id')
            .where('other.role_setup_id', 'is not', null)
            .where('other.state', '=', 'running')
            .where(
              sql<boolean>`(not ${isFree('other', owner, own)}
                or ${inTurn('other')} < ${inTurn('c')})`,
            ),
        ),
      ),
    )
    .orderBy(
      sql`(select max(tried.role_setup_begun_at) from containers tried where tried.owner_id = c.owner_id)`,
      (order) => order.asc().nullsFirst(),
    )
    .orderBy('c.created_at');

/** Those never tried come first, then the oldest attempt: one that cannot progress does not block the others. */
const inTurn = (as: 'c' | 'other') => {
  const [begun, created, dbId] = ['role_setup_begun_at', 'created_at', 'db_id'].map((column) =>
    sql.ref(`${as}.${column}`),
  );
  return sql`(coalesce(${begun}, '-infinity'), ${created}, ${dbId})`;
};

/** Without a worker whose lease counts. */
const isFree = (as: 'c' | 'other', owner: string, own: boolean) => {
  const [until, worker] = [sql.ref(`${as}.role_setup_until`), sql.ref(`${as}.role_setup_owner`)];
  return sql<boolean>`(${until} is null or ${until} <= clock_timestamp() or (${own}::boolean and ${worker} = ${owner}))`;
};

const toColumns = ({ status, id, detail }: RoleSetup) => ({
  role_setup_status: status,
  role_setup_id: id,
  role_setup_detail: detail,
});
