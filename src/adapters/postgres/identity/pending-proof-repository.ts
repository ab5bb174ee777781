import { sql } from 'kysely';
import type {
  PendingProofRepository,
  PendingPurpose,
} from '../../../ports/identity/pending-proof-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { clockNow, firstAs, run } from '../sql.ts';

const SWEEP_AT_MOST = 100;

const toUserId = (row: { user_id: string | null }) => ({ userId: row.user_id });

export function postgresPending(db: Db): PendingProofRepository {
  const alive = (hash: Buffer, purpose: PendingPurpose) =>
    db
      .selectFrom('pending_proofs')
      .select(['user_id', 'tries'])
      .where('hash', '=', hash)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', clockNow);

  /** Each new row removes some expired ones. */
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

    find: (hash, purpose) => alive(hash, purpose).$call(firstAs(toUserId)),

    lock: (hash, purpose) =>
      alive(hash, purpose)
        .forUpdate()
        .$call(firstAs(({ tries }) => ({ tries }))),

    countTry: (hash) =>
      db
        .updateTable('pending_proofs')
        .set({ tries: sql<number>`tries + 1` })
        .where('hash', '=', hash)
        .$call(run),

    spend: (hash, purpose) =>
      db
        .deleteFrom('pending_proofs')
        .where('hash', '=', hash)
        .where('purpose', '=', purpose)
        .where('expires_at', '>', clockNow)
        .returning('user_id')
        .$call(firstAs(toUserId)),

    endAll: (userId, purpose) =>
      db.deleteFrom('pending_proofs').where('user_id', '=', userId).where('purpose', '=', purpose).$call(run),
  };
}
