import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import t from 'tap';
import { sealSome } from '../../../src/adapters/postgres/audit-chain.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/database.ts';
import { postgresEvents } from '../../../src/adapters/postgres/event-log.ts';
import { postgresSessions } from '../../../src/adapters/postgres/identity/session-repository.ts';
import type { Database } from '../../../src/adapters/postgres/schema/database-schema.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { freshDatabase, run } from '../../support/database/database.ts';
import { hashOf } from '../../support/database/storage.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';

/** Enough that no plan reads them all for a few. */
const MANY = 5_000;

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);

  /** How many rows of the tables `work` reads. */
  const rowsRead = (
    tables: readonly string[],
    work: (trx: Kysely<Database>) => Promise<unknown>,
  ): Promise<number> =>
    db.transaction().execute(async (trx) => {
      await work(trx);
      const { rows } = await sql<{ rows: string }>`select sum(seq_tup_read + idx_tup_fetch) as rows
        from pg_stat_xact_user_tables where relname = any(${tables})`.execute(trx);
      return Number(rows[0]?.rows);
    });

  await t.test('a user with very many sessions is no more work than another one', async (t) => {
    const { id: userId } = await storedUser(storage);
    await run(
      url,
      `insert into sessions (user_id, ip_address, user_agent, expires_at, revoked_at)
       select '${userId}', '192.0.2.' || n % 200, '', now() + interval '1 day', now()
       from generate_series(1, ${MANY}) n; analyze sessions`,
    );
    const open = await storage.repositories.sessions.insert({
      userId,
      ipAddress: '192.0.2.1',
      userAgent: '',
    });
    const reads = [
      await rowsRead(['sessions'], (trx) => postgresSessions(trx).seenAt(userId, '192.0.2.7')),
      await rowsRead(['sessions'], (trx) => postgresSessions(trx).seenAt(userId, '198.51.100.1')),
      await rowsRead(['sessions'], async (trx) =>
        t.same(await postgresSessions(trx).revokeOthers(userId, randomUUID(), 'test'), [open.id]),
      ),
    ];
    for (const rows of reads) t.ok(rows < 200, `read ${rows} rows of ${MANY}`);
  });

  await t.test('what is forgotten is found by an index', async (t) => {
    const { id: userId } = await storedUser(storage);
    await run(
      url,
      `insert into sessions (user_id, ip_address, user_agent, expires_at)
       select '${userId}', '', '', now() + interval '1 day' from generate_series(1, ${MANY}) n; analyze sessions`,
    );
    const rows = await rowsRead(['sessions'], (trx) =>
      postgresStorage(trx).repositories.history.forget('sessions', 30, 100),
    );
    t.ok(rows < 1_000, `read ${rows} rows of ${2 * MANY}`);
  });

  await t.test('who comes back reads no events of others', async (t) => {
    const { events, collaborations } = storage.repositories;
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const { dbId } = await storedContainer(storage, ada.id);
    const id = randomUUID();
    const share = { id, dbId, ownerId: ada.id, mode: 'view', minutes: 60 } as const;
    await collaborations.insert({ ...share, codeHash: hashOf(id) });
    await collaborations.admit({ collaborationId: id, userId: bob.id });
    const after = await events.end();
    const own = { type: 'container_started', data: {} } as const;
    await events.append({ ...own, dbId: randomUUID(), ownerId: bob.id });
    await events.append({ ...own, dbId, ownerId: ada.id });
    await run(
      url,
      `insert into events (db_id, owner_id, type, data)
       select gen_random_uuid(), gen_random_uuid(), 'container_started', '{}'
       from generate_series(1, ${MANY}); analyze events`,
    );
    const [upTo] = (
      await sql<{ id: string }>`
      select xid || '-' || position as id from events order by xid desc, position desc limit 1`.execute(db)
    ).rows;
    const rows = await rowsRead(['events'], async (trx) => {
      const seen = await postgresEvents(trx).seenBy(bob.id, { after, upTo: upTo?.id ?? '' }, 1_001);
      t.equal(seen.length, 2);
    });
    // Whole pages of a bitmap scan are counted, with the rows of others on them.
    t.ok(rows < 1_000, `read ${rows} rows of ${MANY}`);
  });

  await t.test('a part of a long backlog is sealed in order, and the rest of it is not read', async (t) => {
    const { auditChain } = storage.repositories;
    await run(
      url,
      `insert into audit_records (action, ip_address, user_agent, details, created_at)
       select 'login', '', '', n::text, now() - n * interval '1 s' from generate_series(1, ${MANY}) n;
       analyze audit_records, audit_unsealed`,
    );
    const rows = await rowsRead(['audit_records', 'audit_unsealed'], async (trx) =>
      t.equal(await sealSome(trx, 100), 100),
    );
    t.ok(rows < 1_000, `read ${rows} rows of ${2 * MANY}`);
    const links = await auditChain.links(0n, 200);
    t.same(
      links.map(({ content }) => content?.details),
      Array.from({ length: 100 }, (_, n) => `${MANY - n}`),
      'the oldest first',
    );
  });
}
