import { type Kysely, sql } from 'kysely';
import type { FactorRepository } from '../../../ports/identity/totp-repository.ts';
import type { Database } from '../schema/database-schema.ts';

export const postgresFactors = (db: Kysely<Database>): FactorRepository => ({
  async totp(userId) {
    const row = await db
      .selectFrom('totp_factors')
      .selectAll()
      .where('user_id', '=', userId)
      .executeTakeFirst();
    if (row === undefined) return null;
    return { sealedSecret: row.sealed_secret, confirmedAt: row.confirmed_at, lastStep: row.last_step };
  },

  async putPendingTotp(userId, sealedSecret) {
    const done = await db
      .insertInto('totp_factors')
      .values({ user_id: userId, sealed_secret: sealedSecret })
      .onConflict((conflict) =>
        conflict
          .column('user_id')
          .doUpdateSet({ sealed_secret: sealedSecret, created_at: sql<Date>`now()` })
          .where('totp_factors.confirmed_at', 'is', null),
      )
      .executeTakeFirst();
    return done.numInsertedOrUpdatedRows === 1n;
  },

  async confirmTotp(userId, sealedSecret, step) {
    const done = await db
      .updateTable('totp_factors')
      .set({ confirmed_at: sql<Date>`now()`, last_step: step })
      .where('user_id', '=', userId)
      .where('sealed_secret', '=', sealedSecret)
      .where('confirmed_at', 'is', null)
      .executeTakeFirst();
    return done.numUpdatedRows === 1n;
  },

  async acceptStep(userId, step) {
    const done = await db
      .updateTable('totp_factors')
      .set({ last_step: step })
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is not', null)
      .where('last_step', '<', step)
      .executeTakeFirst();
    return done.numUpdatedRows === 1n;
  },

  async removeTotp(userId) {
    const done = await db
      .deleteFrom('totp_factors')
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is not', null)
      .executeTakeFirst();
    return done.numDeletedRows === 1n;
  },

  async allSecrets() {
    const rows = await db.selectFrom('totp_factors').select(['user_id', 'sealed_secret']).execute();
    return rows.map((row) => ({ userId: row.user_id, sealedSecret: row.sealed_secret }));
  },

  async replaceSecret(userId, from, to) {
    await db
      .updateTable('totp_factors')
      .set({ sealed_secret: to })
      .where('user_id', '=', userId)
      .where('sealed_secret', '=', from)
      .execute();
  },
});
