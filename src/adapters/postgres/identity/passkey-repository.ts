import { type Kysely, type Selectable, sql } from 'kysely';
import type { Passkey } from '../../../domain/identity/passkey.ts';
import type { PasskeyRepository } from '../../../ports/identity/passkey-repository.ts';
import type { Database } from '../schema/database-schema.ts';
import type { PasskeysTable } from '../schema/identity-tables.ts';

export const postgresPasskeys = (db: Kysely<Database>): PasskeyRepository => ({
  async insert(passkey) {
    const row = await db
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
      .executeTakeFirst();
    return row === undefined ? null : toPasskey(row);
  },

  async listOf(userId) {
    const rows = await db
      .selectFrom('passkeys')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('created_at')
      .execute();
    return rows.map(toPasskey);
  },

  async findByCredential(credentialId) {
    const row = await db
      .selectFrom('passkeys')
      .selectAll()
      .where('credential_id', '=', credentialId)
      .executeTakeFirst();
    return row === undefined ? null : toPasskey(row);
  },

  async used(id, counter, backedUp) {
    const done = await db
      .updateTable('passkeys')
      .set({ counter, backed_up: backedUp, last_used_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where(sql<boolean>`(counter < ${counter}::bigint or counter = 0 and ${counter}::bigint = 0)`)
      .executeTakeFirst();
    return done.numUpdatedRows === 1n;
  },

  async rename(id, userId, name) {
    const row = await db
      .updateTable('passkeys')
      .set({ name })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? null : toPasskey(row);
  },

  async remove(id, userId) {
    const done = await db
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    return done.numDeletedRows === 1n;
  },
});

const toPasskey = (row: Selectable<PasskeysTable>): Passkey => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  // An authenticator counts to 2^32, which a number holds.
  counter: Number(row.counter),
  transports: row.transports,
  backedUp: row.backed_up,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});
