import { sql } from 'kysely';
import {
  type Begun,
  type IdempotencyKeyStore,
  KEPT_HOURS,
  type KeyedRequest,
} from '../../ports/idempotency-key-store.ts';
import type { Db } from './schema/database-schema.ts';
import { changedOne, clockNow, leaseEnd, run } from './sql.ts';

const SWEEP_AT_MOST = 100;
const TRIES = 3;

const tooOld = sql<Date>`clock_timestamp() - make_interval(hours => ${sql.raw(String(KEPT_HOURS))})`;

export const postgresIdempotencyKeys = (db: Db): IdempotencyKeyStore => ({
  async begin(request, bodyHash, holder, leaseSeconds) {
    await sweep(db, request);
    for (let n = 0; n < TRIES; n += 1) {
      const taken = await take(db, request, bodyHash, holder, leaseSeconds);
      if (taken !== null) return taken;
      const row = await rowOf(db, request).executeTakeFirst();
      // It has been deleted meanwhile.
      if (row === undefined) continue;
      const { subject, status, answer } = row;
      if (!row.body_hash.equals(bodyHash)) return { kind: 'other_body' };
      if (status !== null) return { kind: 'done', subject, answer: { status, body: answer ?? {} } };
      break;
    }
    return { kind: 'busy' };
  },

  renew: (holder, leaseSeconds) =>
    unfinished(db, holder)
      .set({ lease_until: leaseEnd(leaseSeconds) })
      .$call(run),

  link: (holder, subject) => unfinished(db, holder).set({ subject }).$call(changedOne),

  async finish(holder, { status, body }) {
    const answer = JSON.stringify(body);
    return await unfinished(db, holder).set({ status, answer }).$call(changedOne);
  },

  async forget(holder) {
    await db
      .deleteFrom('idempotency_keys')
      .where('holder', '=', holder)
      .where('status', 'is', null)
      .where('subject', 'is', null)
      .execute();
    await unfinished(db, holder).set({ lease_until: clockNow }).execute();
  },
});

const unfinished = (db: Db, holder: string) =>
  db.updateTable('idempotency_keys').where('holder', '=', holder).where('status', 'is', null);

const rowOf = (db: Db, { userId, route, key }: KeyedRequest) =>
  db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('route', '=', route)
    .where('key', '=', key);

/** Each new row removes some old ones, always including its own key's. */
const sweep = async (db: Db, { userId, route, key }: KeyedRequest): Promise<void> => {
  await db
    .deleteFrom('idempotency_keys')
    .where('holder', 'in', (eb) =>
      eb
        .selectFrom('idempotency_keys')
        .select('holder')
        .where('created_at', '<=', tooOld)
        .orderBy(sql`(user_id, route, key) = (${userId}, ${route}, ${key})`, 'desc')
        .limit(SWEEP_AT_MOST)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
};

/** A new row, or one whose lease has expired; else null. */
const take = async (
  db: Db,
  { userId, route, key }: KeyedRequest,
  bodyHash: Buffer,
  holder: string,
  leaseSeconds: number,
): Promise<Begun | null> => {
  const lease = { holder, lease_until: leaseEnd(leaseSeconds) };
  const row = await db
    .insertInto('idempotency_keys')
    .values({ user_id: userId, route, key, body_hash: bodyHash, ...lease })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'route', 'key'])
        .doUpdateSet(lease)
        .where('idempotency_keys.status', 'is', null)
        .where('idempotency_keys.lease_until', '<=', clockNow)
        .where('idempotency_keys.body_hash', '=', bodyHash),
    )
    .returning('subject')
    .executeTakeFirst();
  return row === undefined ? null : { kind: 'begun', subject: row.subject };
};
