import { type Kysely, sql } from 'kysely';
import type { PendingPurpose, PendingRepository } from '../../../ports/identity/pending-proof-repository.ts';
import { clockNow } from '../database-clock.ts';
import type { Database } from '../schema/database-schema.ts';

const SWEEP_AT_MOST = 100;

export function postgresPending(db: Kysely<Database>): PendingRepository {
  const alive = (hash: Buffer, purpose: PendingPurpose) =>
    db
      .selectFrom('pending_proofs')
      .select(['user_id', 'tries'])
      .where('hash', '=', hash)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', clockNow);

  /** Each new one takes some dead ones away, so that they never pile up. */
  const sweep = () =>
    db
      .deleteFrom('pending_proofs')
      .where('hash', 'in', (eb) =>
        eb
          .selectFrom('pending_proofs')
          .select('hash')
          .where('expires_at', '<=', sql<Date>`now()`)
          .limit(SWEEP_AT_MOST)
          .forUpdate()
          .skipLocked(),
      )
      .execute();

  return {
    async insert(hash, purpose, userId, lifeMinutes) {
      await sweep();
      const row = await db
        .insertInto('pending_proofs')
        .values({
          hash,
          purpose,
          user_id: userId,
          expires_at: sql<Date>`clock_timestamp() + make_interval(mins => ${lifeMinutes})`,
        })
        .returning('expires_at')
        .executeTakeFirstOrThrow();
      return row.expires_at;
    },

    async find(hash, purpose) {
      const row = await alive(hash, purpose).executeTakeFirst();
      return row === undefined ? null : { userId: row.user_id };
    },

    async lock(hash, purpose) {
      const row = await alive(hash, purpose).forUpdate().executeTakeFirst();
      return row === undefined ? null : { tries: row.tries };
    },

    async countTry(hash) {
      await db
        .updateTable('pending_proofs')
        .set({ tries: sql<number>`tries + 1` })
        .where('hash', '=', hash)
        .execute();
    },

    async spend(hash, purpose) {
      const row = await db
        .deleteFrom('pending_proofs')
        .where('hash', '=', hash)
        .where('purpose', '=', purpose)
        .where('expires_at', '>', clockNow)
        .returning('user_id')
        .executeTakeFirst();
      return row === undefined ? null : { userId: row.user_id };
    },

    async endAll(userId, purpose) {
      await db
        .deleteFrom('pending_proofs')
        .where('user_id', '=', userId)
        .where('purpose', '=', purpose)
        .execute();
    },
  };
}
