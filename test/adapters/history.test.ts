import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import t from 'tap';
import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import type { Database } from '../../src/adapters/postgres/schema.ts';
import { postgresSessions } from '../../src/adapters/postgres/session-repository.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { forgetEnded } from '../../src/app/forget-ended.ts';
import { type AgeAll, historyContract } from '../contract/history.ts';
import { freshDatabase } from '../support/database.ts';
import { silentLog } from '../support/engine.ts';
import { hashOf } from '../support/storage.ts';
import { storedContainer, storedUser } from '../support/stored.ts';

const DAY_MS = 86_400_000;
const TIMES = {
  operations: ['finished_at'],
  sessions: ['created_at', 'last_seen_at', 'expires_at', 'revoked_at'],
  collaborations: ['created_at', 'expires_at', 'ended_at'],
  containers: ['deleted_at', 'volume_condemned_at', 'volume_claimed_at', 'volume_removed_at'],
};

const ageIn =
  (db: Kysely<Database>): AgeAll =>
  async (days) => {
    for (const [table, columns] of Object.entries(TIMES)) {
      const set = columns.map((column) => `${column} = ${column} - interval '${days} days'`);
      await sql.raw(`update ${table} set ${set.join(', ')}`).execute(db);
    }
  };

const clock = fixedClock();
const memory = memoryStorage(clock);
await historyContract('memory', memory, async (days) => void clock.advance(days * DAY_MS));

t.test('the days are those of the settings, and a long backlog is worked off', async (t) => {
  const { settings, sessions } = memory.repositories;
  await settings.change({ historyDays: 60 });
  const userId = (await storedUser(memory)).id;
  for (let n = 0; n < 450; n += 1) {
    const { id } = await sessions.insert({ userId, ipAddress: '', userAgent: '' });
    await sessions.revoke(id, userId, 'test');
  }
  const left = () => memory.state.sessions.filter((one) => one.userId === userId).length;
  clock.advance(59 * DAY_MS);
  await forgetEnded(memory, silentLog)();
  t.equal(left(), 450);
  clock.advance(2 * DAY_MS);
  await forgetEnded(memory, silentLog)();
  t.equal(left(), 0);
});

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  await historyContract('postgres', storage, ageIn(db));

  /** How many rows of the table `work` reads. */
  const rowsRead = (table: string, work: (trx: Kysely<Database>) => Promise<unknown>): Promise<number> =>
    db.transaction().execute(async (trx) => {
      await work(trx);
      const { rows } = await sql<{ rows: string }>`select seq_tup_read + idx_tup_fetch as rows
        from pg_stat_xact_user_tables where relname = ${table}`.execute(trx);
      return Number(rows[0]?.rows);
    });

  await t.test('a user with very many sessions is no more work than another one', async (t) => {
    const { id: userId } = await storedUser(storage);
    await sql`insert into sessions (user_id, ip_address, user_agent, expires_at, revoked_at)
      select ${userId}, '192.0.2.' || n % 200, '', now() + interval '1 day', now()
      from generate_series(1, 20000) n`.execute(db);
    const open = await storage.repositories.sessions.insert({
      userId,
      ipAddress: '192.0.2.1',
      userAgent: '',
    });
    await sql`analyze sessions`.execute(db);
    const known = await rowsRead('sessions', (trx) => postgresSessions(trx).seenAt(userId, '192.0.2.7'));
    const strange = await rowsRead('sessions', (trx) => postgresSessions(trx).seenAt(userId, '198.51.100.1'));
    const others = await rowsRead('sessions', async (trx) =>
      t.same(await postgresSessions(trx).revokeOthers(userId, randomUUID(), 'test'), [open.id]),
    );
    for (const rows of [known, strange, others]) t.ok(rows < 200, `read ${rows} rows of 20,001`);
  });

  await t.test('what is forgotten is found by an index', async (t) => {
    const { id: userId } = await storedUser(storage);
    await sql`insert into sessions (user_id, ip_address, user_agent, expires_at)
      select ${userId}, '', '', now() + interval '1 day' from generate_series(1, 20000) n`.execute(db);
    await sql`analyze sessions`.execute(db);
    const { history } = storage.repositories;
    while ((await history.forget('sessions', 30, 100)) > 0);
    const rows = await rowsRead('sessions', (trx) =>
      postgresStorage(trx).repositories.history.forget('sessions', 30, 100),
    );
    t.ok(rows < 1_000, `read ${rows} rows of 40,000`);
  });

  await t.test('sessions that cannot be removed stop nothing else from being forgotten', async (t) => {
    const { id: userId } = await storedUser(storage);
    const { dbId } = await storedContainer(storage, userId);
    const { sessions, collaborations } = storage.repositories;
    const session = await sessions.insert({ userId, ipAddress: '', userAgent: '' });
    const share = { id: randomUUID(), containerId: dbId, ownerId: userId, mode: 'view', minutes: 1 } as const;
    await collaborations.insert({ ...share, codeHash: hashOf(share.id) });
    await ageIn(db)(100);
    await sql
      .raw(`create function refuse_delete() returns trigger language plpgsql as $$
      begin raise 'the disk is on fire'; end $$`)
      .execute(db);
    await sql
      .raw(`create trigger refuse_delete before delete on sessions
      for each statement execute function refuse_delete()`)
      .execute(db);
    const warned: object[] = [];
    await forgetEnded(storage, {
      ...silentLog,
      warn: (fields: object | string) => void warned.push(Object(fields)),
    })();
    t.ok(await sessions.findWithUser(session.id));
    t.equal(await collaborations.find(share.id), null);
    t.match(warned, [{ kind: 'sessions', err: { message: /on fire/ } }]);
  });
}
