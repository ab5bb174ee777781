import { type Selectable, sql } from 'kysely';
import type { UserRemoval } from '../../../../domain/identity/people/user-removal.ts';
import type { UserRemovalRepository } from '../../../../ports/identity/people/user-removal-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import type { UserRemovalsTable } from '../../schema/identity-tables.ts';
import { originColumns, toOrigin } from '../../shared-columns.ts';
import { allAs, COUNT, changedOne, countOf, firstAs, run } from '../../sql.ts';

const OF_A_USER = [
  'totp_factors',
  'recovery_codes',
  'passkeys',
  'identities',
  'ssh_keys',
  'recordings',
] as const;

export const postgresUserRemovals = (db: Db): UserRemovalRepository => ({
  begin: ({ userId, plan, requestedBy, origin }) =>
    db
      .insertInto('user_removals')
      .values({
        user_id: userId,
        containers: plan.kind,
        to_user: plan.kind === 'transfer' ? plan.toUserId : null,
        requested_by: requestedBy,
        ...originColumns(origin),
      })
      .onConflict((conflict) => conflict.doNothing())
      .$call(run),

  find: (userId) =>
    db.selectFrom('user_removals').selectAll().where('user_id', '=', userId).$call(firstAs(toRemoval)),

  transfersTo: async (userId) =>
    (await db.selectFrom('user_removals').select(COUNT).where('to_user', '=', userId).$call(countOf)) > 0,

  list: () => db.selectFrom('user_removals').selectAll().orderBy('requested_at').$call(allAs(toRemoval)),

  async finish(userId) {
    if (!(await db.deleteFrom('user_removals').where('user_id', '=', userId).$call(changedOne))) return false;
    for (const table of OF_A_USER) await db.deleteFrom(table).where('user_id', '=', userId).execute();
    await db
      .updateTable('users')
      .set({
        email: null,
        password_hash: null,
        passcode_hash: null,
        role: 'user',
        disabled_at: sql<Date>`coalesce(disabled_at, now())`,
        deleted_at: sql<Date>`now()`,
      })
      .where('id', '=', userId)
      .execute();
    return true;
  },
});

const toRemoval = (row: Selectable<UserRemovalsTable>): UserRemoval => ({
  userId: row.user_id,
  plan: row.to_user === null ? { kind: 'delete' } : { kind: 'transfer', toUserId: row.to_user },
  requestedBy: row.requested_by,
  origin: toOrigin(row),
});
