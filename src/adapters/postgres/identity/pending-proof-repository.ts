import { sql } from 'kysely';
import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import type {
  PendingProofRepository,
  PendingPurpose,
} from '../../../ports/identity/pending-proof-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import type { StoredProviderSession } from '../schema/openid-tables.ts';
import { clockNow, firstAs, onlyAs, run } from '../sql.ts';
import { sweepExpired } from './sweep-expired.ts';

const toUserId = (row: { user_id: string | null }) => ({ userId: row.user_id });

const toStored = (session: ProviderSession): StoredProviderSession => ({
  ...session,
  sealedIdToken: session.sealedIdToken?.toString('base64') ?? null,
});

const fromStored = (stored: StoredProviderSession): ProviderSession => ({
  ...stored,
  sealedIdToken: stored.sealedIdToken === null ? null : Buffer.from(stored.sealedIdToken, 'base64'),
});

export function postgresPending(db: Db): PendingProofRepository {
  const alive = (hash: Buffer, purpose: PendingPurpose) =>
    db
      .selectFrom('pending_proofs')
      .select(['user_id', 'tries', 'provider'])
      .where('hash', '=', hash)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', clockNow);

  return {
    async insert(hash, purpose, userId, lifeMinutes, provider = null) {
      await sweepExpired(db, 'pending_proofs', 'hash');
      return await db
        .insertInto('pending_proofs')
        .values({
          hash,
          purpose,
          user_id: userId,
          provider: provider && JSON.stringify(toStored(provider)),
          expires_at: sql<Date>`clock_timestamp() + make_interval(mins => ${lifeMinutes})`,
        })
        .returning('expires_at')
        .$call(onlyAs((row) => row.expires_at));
    },

    find: (hash, purpose) => alive(hash, purpose).$call(firstAs(toUserId)),

    lock: (hash, purpose) =>
      alive(hash, purpose)
        .forUpdate()
        .$call(firstAs(({ tries, provider }) => ({ tries, provider: provider && fromStored(provider) }))),

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
