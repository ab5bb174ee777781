import { sql } from 'kysely';
import t from 'tap';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { idempotencyKeysContract } from '../contract/idempotency-keys.ts';
import { idempotentRequests } from '../contract/idempotent-requests.ts';
import { freshDatabase } from '../support/database.ts';

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  await idempotencyKeysContract('postgres', storage, async ({ userId, key }, hours) => {
    await sql`update idempotency_keys set created_at = created_at - make_interval(secs => ${hours * 3600})
      where user_id = ${userId} and key = ${key}`.execute(db);
  });
  await idempotentRequests('postgres', storage, async ({ userId, key }) => {
    await sql`update idempotency_keys set lease_until = now() - interval '1 s'
      where user_id = ${userId} and key = ${key}`.execute(db);
  });
  await t.test('no secret of a token is kept', async (t) => {
    const { rows } = await sql<{ all: string }>`select string_agg(k::text, ' ') as all
      from idempotency_keys k`.execute(db);
    t.match(rows[0]?.all, /svc_[0-9a-f]{8}/);
    t.notMatch(rows[0]?.all, /svc_[0-9a-f]{9}/);
  });
}
