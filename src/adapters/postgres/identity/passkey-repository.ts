import { type Selectable, sql } from 'kysely';
import type { Passkey } from '../../../domain/identity/passkey.ts';
import type { PasskeyRepository } from '../../../ports/identity/passkey-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { PasskeysTable } from '../schema/identity-tables.ts';
import { allAs, changedOne, firstAs } from '../sql.ts';

export const postgresPasskeys = (db: Db): PasskeyRepository => ({
  insert: ({ transports, ...passkey }) =>
    db
      .insertInto('passkeys')
      .values({ ...passkeyColumns(passkey), transports: JSON.stringify(transports) })
      .onConflict((conflict) => conflict.column('credential_id').doNothing())
      .returningAll()
      .$call(firstAs(toPasskey)),

  listOf: (userId) =>
    db
      .selectFrom('passkeys')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('created_at')
      .$call(allAs(toPasskey)),

  findByCredential: (credentialId) =>
    db.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).$call(firstAs(toPasskey)),

  used: (id, counter, backedUp) =>
    db
      .updateTable('passkeys')
      .set({ counter, backed_up: backedUp, last_used_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where(sql<boolean>`(counter < ${counter}::bigint or counter = 0 and ${counter}::bigint = 0)`)
      .$call(changedOne),

  rename: (id, userId, name) =>
    db
      .updateTable('passkeys')
      .set({ name })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returningAll()
      .$call(firstAs(toPasskey)),

  remove: (id, userId) =>
    db.deleteFrom('passkeys').where('id', '=', id).where('user_id', '=', userId).$call(changedOne),
});

const passkeyFields = fromColumns(
  'id userId name credentialId publicKey transports backedUp createdAt lastUsedAt',
);

const toPasskey = (row: Selectable<PasskeysTable>): Passkey => ({
  ...passkeyFields(row),
  // Authenticators count to 2^32, which a number can hold.
  counter: Number(row.counter),
});

const passkeyColumns = toColumns('userId name credentialId publicKey counter backedUp');
