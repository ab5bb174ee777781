import { type Selectable, sql } from 'kysely';
import type { Passkey } from '../../../domain/identity/passkey.ts';
import type { PasskeyRepository } from '../../../ports/identity/passkey-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import type { PasskeysTable } from '../schema/identity-tables.ts';
import { allAs, changedOne, firstAs } from '../sql.ts';

export const postgresPasskeys = (db: Db): PasskeyRepository => ({
  insert: (passkey) =>
    db
      .insertInto('passkeys')
      .values({
        user_id: passkey.userId,
        name: passkey.name,
        credential_id: passkey.credentialId,
        public_key: passkey.publicKey,
        counter: passkey.counter,
        transports: JSON.stringify(passkey.transports),
        backed_up: passkey.backedUp,
      })
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

const toPasskey = (row: Selectable<PasskeysTable>): Passkey => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  // Authenticators count to 2^32, which a number can hold.
  counter: Number(row.counter),
  transports: row.transports,
  backedUp: row.backed_up,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});
