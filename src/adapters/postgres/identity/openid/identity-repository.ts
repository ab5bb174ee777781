import { type Selectable, sql } from 'kysely';
import type { ConnectedIdentity } from '../../../../domain/identity/openid/connected-identity.ts';
import type { IdentityRepository } from '../../../../ports/identity/openid/identity-repository.ts';
import { fromColumns } from '../../columns.ts';
import type { Db } from '../../schema/database-schema.ts';
import type { IdentitiesTable } from '../../schema/openid-tables.ts';
import { allAs, changedOne, firstAs, run } from '../../sql.ts';

export const postgresIdentities = (db: Db): IdentityRepository => ({
  insert: ({ userId, issuer, subject, email }) =>
    db
      .insertInto('identities')
      .values({ user_id: userId, issuer, subject, email })
      .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
      .returningAll()
      .$call(firstAs(toIdentity)),

  find: (issuer, subject) =>
    db
      .selectFrom('identities')
      .selectAll()
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .$call(firstAs(toIdentity)),

  listOf: (userId) =>
    db
      .selectFrom('identities')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('created_at')
      .orderBy('id')
      .$call(allAs(toIdentity)),

  used: (id, email) =>
    db
      .updateTable('identities')
      .set({ last_used_at: sql<Date>`now()`, email })
      .where('id', '=', id)
      .$call(run),

  remove: (id, userId) =>
    db.deleteFrom('identities').where('id', '=', id).where('user_id', '=', userId).$call(changedOne),
});

const toIdentity: (row: Selectable<IdentitiesTable>) => ConnectedIdentity = fromColumns(
  'id userId issuer subject email createdAt lastUsedAt',
);
