import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import pino from 'pino';
import t, { type Test } from 'tap';
import { sealSome } from '../../../src/adapters/postgres/audit-chain.ts';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import {
  spoilsConnection,
  whyUnavailable,
} from '../../../src/adapters/postgres/connection/database-unavailable.ts';
import { postgresEvents } from '../../../src/adapters/postgres/event-log.ts';
import { postgresSessions } from '../../../src/adapters/postgres/identity/session-repository.ts';
import { keepPresence, presentFrom } from '../../../src/adapters/postgres/notification-listener.ts';
import type { Database } from '../../../src/adapters/postgres/schema/database-schema.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { type BusPair, busContract } from '../../contract/bus.ts';
import { freshDatabase, run } from '../../support/database/database.ts';
import { hashOf, storedContainer, storedUser } from '../../support/database/stored.ts';
import { eventually, waitFor } from '../../support/patience.ts';

const silent = pino({ level: 'silent' });

type Pair = BusPair & { readonly url: string; readonly name: string; readonly sql: pg.Client };

/** Two processes; the server's list names `there`. */
async function openPair(t: Test): Promise<Pair | null> {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const name = /\/(t_\w+)\?/.exec(url)?.[1] ?? '';
  const sql = new pg.Client({ connectionString: url.replace(`/${name}?`, '/postgres?') });
  await sql.connect();
  const here = postgresBus(url, silent);
  const there = postgresBus(`${url}&application_name=there`, silent);
  t.teardown(async () => {
    await Promise.all([here.close(), there.close()]);
    await sql.end();
  });
  await waitFor(() => here.connected && there.connected);
  return {
    here,
    there,
    url,
    name,
    sql,
    cut: async () => {
      // New connections are refused until `mend`; open ones stay.
      await sql.query(`alter database ${name} with allow_connections false`);
      await terminate(sql, name, 'there');
    },
    restore: async () => void (await sql.query(`alter database ${name} with allow_connections true`)),
  };
}

const terminate = (sql: pg.Client, database: string, application: string) =>
  sql.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = $2',
    [database, application],
  );

/** For the whole file: both are connected when a test ends. */
const pair = await openPair(t);
busContract(t, async () => pair);

t.test('the database shows a process while it runs, also one whose messages go elsewhere', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const running = async (): Promise<number> => (await presentFrom(db)).length;
  for (const open of [postgresBus, keepPresence]) {
    const process = open(url, silent);
    await waitFor(async () => (await running()) === 1, { what: `${open.name} is there` });
    await process.close();
    await waitFor(async () => (await running()) === 0, { what: `${open.name} is gone` });
  }
});

t.test('a listener that reconnects during a flood of messages reports the gap first', async (t) => {
  if (pair === null) return;
  const { there } = pair;
  const log: unknown[] = [];
  there.subscribe(
    'amid',
    (message) => log.push(message),
    () => log.push('gap'),
  );
  const sender = new pg.Client({ connectionString: pair.url });
  await sender.connect();
  await pair.cut();
  await waitFor(() => !there.connected);
  const payload = JSON.stringify({ from: 'a third process', topic: 'amid', message: { n: 1 } });
  let isOver = false;
  const sends = async (): Promise<void> => {
    while (!isOver) await sender.query('select pg_notify($1, $2)', ['berth', payload]);
  };
  const sending = sends();
  await pair.restore();
  await waitFor(() => log.length > 1, { what: 'it hears them' });
  isOver = true;
  await sending;
  await sender.end();
  t.same(log.slice(0, 2), ['gap', { n: 1 }]);
});

t.test('foreign payloads on the channel are ignored, and a failing handler affects no other', async (t) => {
  if (pair === null) return;
  const heard: unknown[] = [];
  pair.there.subscribe(
    'a',
    () => {
      throw new Error('broken handler');
    },
    () => undefined,
  );
  pair.there.subscribe(
    'a',
    (message) => heard.push(message),
    () => undefined,
  );
  const stranger = new pg.Client({ connectionString: pair.url });
  await stranger.connect();
  for (const text of ['', '{', 'null', '[]', '{"topic":"a"}']) {
    await stranger.query('select pg_notify($1, $2)', ['berth', text]);
  }
  await stranger.end();
  pair.here.publish('a', { n: 1 });
  await waitFor(() => heard.length > 0);
  t.same(heard, [{ n: 1 }]);
  t.ok(pair.there.connected);
});

t.test('the bus uses one connection per process, outside the pool, and never a transaction', async (t) => {
  if (pair === null) return;
  let heard = 0;
  pair.there.subscribe(
    'a',
    () => {
      heard += 1;
    },
    () => undefined,
  );
  for (let n = 1; n <= 100; n += 1) {
    pair.here.publish('a', { n });
    await waitFor(() => heard === n);
  }
  // Not the server's own processes, which visit every database. A connection of another test may still be closing.
  const clients = async (): Promise<readonly string[]> => {
    const { rows } = await pair.sql.query(
      "select state from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
      [pair.name],
    );
    return rows.map(({ state }) => String(state));
  };
  const states = await eventually(clients, ({ length }) => length === 2);
  t.equal(states.length, 2);
  t.notOk(states.some((state) => state.includes('transaction')));
});

/** Enough that no plan reads all of them for a few. */
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

  await t.test('a user with very many sessions costs no more than another', async (t) => {
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

  await t.test('forgotten rows are found by an index', async (t) => {
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
    const { events, collaborations, participations } = storage.repositories;
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const { dbId } = await storedContainer(storage, ada.id);
    const id = randomUUID();
    const share = { id, dbId, ownerId: ada.id, mode: 'view', minutes: 60 } as const;
    await collaborations.insert({ ...share, codeHash: hashOf(id) });
    await participations.admit({ collaborationId: id, userId: bob.id });
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

  await t.test('part of a long backlog is sealed in order without reading the rest', async (t) => {
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

/** A server's error, as the driver passes it on. */
function said(sqlState: string): Error {
  const error = new pg.DatabaseError('said by the server', 0, 'error');
  error.code = sqlState;
  return error;
}

const failed = (message: string, code?: string): Error => Object.assign(new Error(message), { code });

t.test("the server's state is no refusal of a statement", async (t) => {
  const moods = [
    ...['08000', '08003', '08006', '08P01', '25006', '25P03', '25P04', '28000', '28P01', '3D000', '40001'],
    ...['40003', '40P01', '53000', '53100', '53200', '53300', '53400', '55006', '55P03', '57014', '57P01'],
    ...['57P02', '57P03', '57P04', '57P05', '58030', '72000'],
  ];
  for (const sqlState of moods) t.type(whyUnavailable(said(sqlState)), 'string', sqlState);
});

t.test("a statement's own error is passed on", async (t) => {
  const answers = ['23505', '23503', '22P02', '42601', '42P01', '42501', '25P02', '22003', 'P0001', 'XX000'];
  for (const sqlState of answers) t.equal(whyUnavailable(said(sqlState)), null, sqlState);
  t.equal(whyUnavailable(new Error('a fault of ours')), null);
  t.equal(whyUnavailable('no error'), null);
});

t.test('a lost connection is no refusal of a statement', async (t) => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])
    t.type(whyUnavailable(failed('connect', code)), 'string', code);
  for (const words of [
    'Query read timeout',
    'Connection terminated unexpectedly',
    'Client was closed and is not queryable',
  ])
    t.type(whyUnavailable(failed(words)), 'string', words);
});

t.test('a silent or read-only connection is not used again', async (t) => {
  t.ok(spoilsConnection(said('25006')));
  t.ok(spoilsConnection(failed('Query read timeout')));
  t.notOk(spoilsConnection(said('55P03')), 'one that waited for a lock is');
});
