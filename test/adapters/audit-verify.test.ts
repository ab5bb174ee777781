import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import { sealSome } from '../../src/adapters/postgres/audit-chain.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { runProcess } from '../support/child.ts';
import { freshDatabase, run } from '../support/database.ts';

const COMMANDS = path.resolve('src/app/main/bin/berth.ts');
const ENTRY = { userId: null, action: 'login', ipAddress: '::1', userAgent: 'agent' } as const;

t.setTimeout(300_000);

/** `berth …` as a person runs it: its exit code and all that it says. */
async function berth(t: Test, url: string, ...args: string[]): Promise<{ code: unknown; says: string }> {
  const child = runProcess(t, '/usr/bin/env', [`DATABASE_URL=${url}`, process.execPath, COMMANDS, ...args]);
  let printed = '';
  for (;;) {
    const line = await child.line().catch(() => null);
    if (line === null) break;
    printed += `${line}\n`;
  }
  return { code: await child.ended, says: printed + child.errors() };
}

/** A database with ten sealed records; `ids` in the order of the chain. */
async function aChain(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const { audit, auditChain } = postgresStorage(db).repositories;
  for (let n = 1; n <= 10; n += 1) await audit.append({ ...ENTRY, details: `${n}` });
  while ((await auditChain.seal(4)) > 0);
  const links = await auditChain.links(0n, 100);
  return { url, db, ids: links.map(({ recordId }) => recordId), auditChain, audit };
}

/** Whoever owns the tables can switch the triggers off. */
const tamper = (url: string, statements: string): Promise<void> =>
  run(url, `begin; set local session_replication_role = replica; ${statements}; commit`);

t.test('a whole audit is said to be, with the head to keep', async (t) => {
  const chain = await aChain(t);
  if (chain === null) return;
  const { code, says } = await berth(t, chain.url, 'audit', 'verify');
  t.equal(code, 0, says);
  const [, head = ''] = /^the audit is whole: 10 records\nhead (10:[0-9a-f]{64})\n$/.exec(says) ?? [];
  await chain.audit.append({ ...ENTRY, details: 'later' });
  await chain.auditChain.seal(10);
  t.equal((await berth(t, chain.url, 'audit', 'verify', '--head', head)).code, 0);

  await tamper(
    chain.url,
    'delete from audit_records where id in (select record_id from audit_chain where seq >= 10); delete from audit_chain where seq >= 10',
  );
  t.equal((await berth(t, chain.url, 'audit', 'verify')).code, 0, 'a cut-off end looks whole by itself');
  const cut = await berth(t, chain.url, 'audit', 'verify', '--head', head);
  t.equal(cut.code, 1);
  t.match(cut.says, `${head} is not in it`);
  t.equal((await berth(t, chain.url, 'audit', 'verify', '--head', 'x')).code, 64);
});

t.test('what was done behind the triggers is named', async (t) => {
  const put = (id: string, at: string): string =>
    `update audit_chain set record_id = '${id}' where record_id = '${at}'`;
  const spare = '99999999-9999-4999-8999-999999999999';
  const swap = (a: string, b: string): string => [put(spare, a), put(a, b), put(b, spare)].join('; ');
  const cases: readonly (readonly [string, (ids: readonly string[]) => string, number, RegExp])[] = [
    [
      'changed',
      (ids) => `update audit_records set details = 'x' where id = '${ids[4]}'`,
      4,
      /at 5, .*hash differs/,
    ],
    [
      'moved in time',
      (ids) =>
        `update audit_records set created_at = created_at + interval '1 microsecond' where id = '${ids[2]}'`,
      2,
      /at 3, .*hash differs/,
    ],
    ['deleted', (ids) => `delete from audit_records where id = '${ids[6]}'`, 6, /at 7, .*record missing/],
    [
      'deleted with its link',
      (ids) =>
        `delete from audit_records where id = '${ids[6]}'; delete from audit_chain where record_id = '${ids[6]}'`,
      7,
      /at 8, .*out of order/,
    ],
    [
      'deleted, and the rest numbered anew',
      (ids) =>
        `delete from audit_records where id = '${ids[6]}'; delete from audit_chain where seq = 7;
         update audit_chain set seq = seq - 100 where seq > 7; update audit_chain set seq = seq + 99 where seq < 0`,
      7,
      /at 7, .*hash differs/,
    ],
    ['put in another order', (ids) => swap(ids[1] ?? '', ids[2] ?? ''), 2, /at 2, .*hash differs/],
  ];
  for (const [name, statements, index, says] of cases) {
    const chain = await aChain(t);
    if (chain === null) return;
    await tamper(chain.url, statements(chain.ids));
    const found = await berth(t, chain.url, 'audit', 'verify');
    t.equal(found.code, 1, name);
    t.match(found.says, says, name);
    t.match(found.says, chain.ids[index] ?? 'no such record', `${name}: the record is named`);
  }
});

t.test('a record that was put in is named', async (t) => {
  const chain = await aChain(t);
  if (chain === null) return;
  const id = '99999999-9999-4999-8999-999999999999';
  await tamper(
    chain.url,
    `insert into audit_records (id, action, ip_address, user_agent, details) values ('${id}', 'login', '', '', '')`,
  );
  const found = await berth(t, chain.url, 'audit', 'verify');
  t.same([found.code, found.says.includes(id)], [1, true], found.says);
});

t.test('records from before the chain are sealed like new ones', async (t) => {
  const chain = await aChain(t);
  if (chain === null) return;
  const migrations = ['0018_audit_chain', '0024_audit_sealed_in_order'].map((name) =>
    readFileSync(`db/migrations/${name}.sql`, 'utf8'),
  );
  await run(
    chain.url,
    `drop table audit_chain, audit_unsealed; drop trigger audit_records_to_be_sealed on audit_records;
     drop function audit_to_be_sealed; drop index audit_records_action; ${migrations.join('\n')}`,
  );
  t.equal(await chain.auditChain.seal(100), 10);
  t.match((await berth(t, chain.url, 'audit', 'verify')).says, 'whole: 10 records');
});

t.test('a part of a long backlog is sealed in order, and the rest of it is not read', async (t) => {
  const chain = await aChain(t);
  if (chain === null) return;
  const { db, auditChain } = chain;
  while ((await auditChain.seal(100)) > 0);
  await sql`insert into audit_records (action, ip_address, user_agent, details, created_at)
    select 'login', '', '', n::text, now() - n * interval '1 s' from generate_series(1, 20000) n`.execute(db);
  await sql`analyze audit_records, audit_unsealed`.execute(db);
  const before = (await auditChain.head())?.seq ?? 0n;
  const rows = await db.transaction().execute(async (trx) => {
    t.equal(await sealSome(trx, 100), 100);
    const read = await sql<{ rows: string }>`select sum(seq_tup_read + idx_tup_fetch) as rows
      from pg_stat_xact_user_tables where relname in ('audit_records', 'audit_unsealed')`.execute(trx);
    return Number(read.rows[0]?.rows);
  });
  t.ok(rows < 1_000, `read ${rows} rows of 40,000`);
  const links = await auditChain.links(before, 200);
  t.same(
    links.map(({ content }) => content?.details),
    Array.from({ length: 100 }, (_, n) => `${20_000 - n}`),
    'the oldest first',
  );
  while ((await auditChain.seal(5_000)) > 0);
  t.match((await berth(t, chain.url, 'audit', 'verify')).says, 'the audit is whole');
});

t.test('a role of the service can add to the audit and change nothing of it, triggers or not', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const role = `berth_service_${process.pid}`;
  const script = readFileSync('db/service-role.sql', 'utf8').replaceAll('berth_service', role);
  await run(url, script);
  await run(url, script);
  t.teardown(() => run(url, `drop owned by ${role}; drop role ${role}`));
  const client = new pg.Client({ connectionString: `${url}&options=-c%20role%3D${role}` });
  await client.connect();
  t.teardown(() => client.end());
  t.equal((await client.query('select current_user')).rows[0]?.current_user, role);

  const db = openDatabase(openPool({ url: `${url}&options=-c%20role%3D${role}` }));
  t.teardown(() => db.destroy());
  const { audit, auditChain, settings } = postgresStorage(db).repositories;
  await audit.append({ ...ENTRY, details: 'by the role' });
  t.equal(await auditChain.seal(10), 1);
  t.equal((await audit.page({}, { after: null, limit: 1 })).items[0]?.details, 'by the role');
  await settings.change({ openRegistration: true });

  await run(
    url,
    'alter table audit_records disable trigger all; alter table audit_chain disable trigger all',
  );
  for (const table of ['audit_records', 'audit_chain']) {
    for (const statement of [`delete from ${table}`, `truncate ${table}`, `drop table ${table}`]) {
      await t.rejects(client.query(statement), { message: /permission denied|must be owner/ }, statement);
    }
  }
  for (const statement of [
    `update audit_records set details = 'x'`,
    'update audit_chain set seq = 0',
    'alter table audit_records disable trigger all',
    'create table mine (id int)',
  ]) {
    await t.rejects(client.query(statement), { message: /permission denied|must be owner/ }, statement);
  }
  const asRole = `${url}&options=-c%20role%3D${role}`;
  t.match(await berth(t, asRole, 'migrate'), { code: 0, says: 'nothing to migrate' });
  t.match(await berth(t, asRole, 'audit', 'verify'), { code: 0, says: /whole: 1 records/ });
});
