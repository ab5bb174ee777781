import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import { postgresAuditChain } from '../../../src/adapters/postgres/audit-chain.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { type AuditVerdict, checkAudit } from '../../../src/app/audit/verify-audit.ts';
import { type ChainHead, headText } from '../../../src/domain/audit-chain.ts';
import { runProcess } from '../../support/child.ts';
import { freshDatabase, run } from '../../support/database/database.ts';

const COMMANDS = path.resolve('src/app/main/bin/berth.ts');
const ENTRY = { userId: null, action: 'login', ipAddress: '::1', userAgent: 'agent' } as const;
const RECORDS = 10;

/** `berth …` as run by a person: its exit code and output. */
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

const url = await freshDatabase(t);
if (url !== null) await onDatabase(url);

async function onDatabase(url: string): Promise<void> {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const { audit, auditChain } = postgresStorage(db).repositories;
  for (let n = 1; n <= RECORDS; n += 1) await audit.append({ ...ENTRY, details: `${n}` });
  while ((await auditChain.seal(4)) > 0);
  const head = (await auditChain.head()) as ChainHead;
  /** In the order of the chain. */
  const ids = (await auditChain.links(0n, 100)).map(({ recordId }) => recordId);

  /** The check's output after these statements, which are rolled back. The tables' owner can disable the triggers. */
  async function tampered(statements: string, expected: ChainHead | null = null): Promise<AuditVerdict> {
    const trx = await db.startTransaction().execute();
    try {
      for (const statement of ['set local session_replication_role = replica', ...statements.split(';')])
        await trx.executeQuery(sql.raw(statement).compile(trx));
      return await checkAudit(postgresAuditChain(trx), expected);
    } finally {
      await trx.rollback().execute();
    }
  }

  await t.test('an intact audit verifies and prints its head', async (t) => {
    const full = await berth(t, url, 'audit', 'verify');
    t.same(full, { code: 0, says: `the audit is intact: ${RECORDS} records\nhead ${headText(head)}\n` });
    await audit.append({ ...ENTRY, details: 'later' });
    await auditChain.seal(10);
    t.match(await berth(t, url, 'audit', 'verify', '--head', headText(head)), { code: 0 });
    const other = headText({ ...head, hash: 'f'.repeat(64) });
    const cut = await berth(t, url, 'audit', 'verify', '--head', other);
    t.match(cut, { code: 1, says: `${other} is not in it` });
    t.match(await berth(t, url, 'audit', 'verify', '--head', 'x'), { code: 64 });
  });

  await t.test('a cut-off end verifies alone, but not against a kept head', async (t) => {
    const cut = `delete from audit_records where id in (select record_id from audit_chain where seq >= 10);
      delete from audit_chain where seq >= 10`;
    t.match(await tampered(cut), { kind: 'whole', head: { seq: 9n } });
    t.same(await tampered(cut, head), { kind: 'other_head', expected: head });
  });

  await t.test('changes behind the triggers are named', async (t) => {
    const put = (id: string, at: string): string =>
      `update audit_chain set record_id = '${id}' where record_id = '${at}'`;
    const spare = '99999999-9999-4999-8999-999999999999';
    const [, second = '', third = '', , fifth, , seventh, eighth] = ids;
    const remove = `delete from audit_records where id = '${seventh}'`;
    const broken = (seq: bigint, recordId: string | undefined, why: string) => ({
      kind: 'broken',
      link: { seq, recordId, why },
    });
    const cases: readonly (readonly [name: string, statements: string, verdict: object])[] = [
      [
        'changed',
        `update audit_records set details = 'x' where id = '${fifth}'`,
        broken(5n, fifth, 'hash differs'),
      ],
      [
        'moved in time',
        `update audit_records set created_at = created_at + interval '1 microsecond' where id = '${third}'`,
        broken(3n, third, 'hash differs'),
      ],
      ['deleted', remove, broken(7n, seventh, 'record missing')],
      [
        'deleted with its link',
        `${remove}; delete from audit_chain where record_id = '${seventh}'`,
        broken(8n, eighth, 'out of order'),
      ],
      [
        'deleted, and the rest numbered anew',
        `${remove}; delete from audit_chain where seq = 7;
         update audit_chain set seq = seq - 100 where seq > 7; update audit_chain set seq = seq + 99 where seq < 0`,
        broken(7n, eighth, 'hash differs'),
      ],
      [
        'put in another order',
        [put(spare, second), put(second, third), put(third, spare)].join('; '),
        broken(2n, third, 'hash differs'),
      ],
      [
        'put in',
        `insert into audit_records (id, action, ip_address, user_agent, details) values ('${spare}', 'login', '', '', '')`,
        { kind: 'stray', recordId: spare },
      ],
    ];
    for (const [name, statements, verdict] of cases) t.same(await tampered(statements), verdict, name);
    t.match(await checkAudit(auditChain, null), { kind: 'whole' }, 'all of it is undone');
  });

  await t.test("the service's role can only append to the audit, also without triggers", (t) =>
    asServiceRole(t, url),
  );

  await t.test('records from before the chain are sealed like new ones', async (t) => {
    const migrations = ['0018_audit_chain', '0024_audit_sealed_in_order'].map((name) =>
      readFileSync(`db/migrations/${name}.sql`, 'utf8'),
    );
    await run(
      url,
      `drop table audit_chain, audit_unsealed; drop trigger audit_records_to_be_sealed on audit_records;
       drop function audit_to_be_sealed; drop index audit_records_action; ${migrations.join('\n')}`,
    );
    // One later record, and one by the role.
    const all = RECORDS + 2;
    t.equal(await auditChain.seal(100), all);
    t.match(await checkAudit(auditChain, null), { kind: 'whole', head: { seq: BigInt(all) } });
  });
}

/** The script that an operator runs may be run again. */
async function asServiceRole(t: Test, url: string): Promise<void> {
  const role = `berth_service_${process.pid}`;
  const script = readFileSync('db/service-role.sql', 'utf8').replaceAll('berth_service', role);
  await run(url, script);
  await run(url, script);
  t.teardown(() => run(url, `drop owned by ${role}; drop role ${role}`));
  const asRole = `${url}&options=-c%20role%3D${role}`;
  const client = new pg.Client({ connectionString: asRole });
  await client.connect();
  t.teardown(() => client.end());
  t.equal((await client.query('select current_user')).rows[0]?.current_user, role);

  const db = openDatabase(openPool({ url: asRole }));
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
  t.match(await berth(t, asRole, 'migrate'), { code: 0, says: 'nothing to migrate' });
  t.match(await checkAudit(auditChain, null), { kind: 'whole' });
}
