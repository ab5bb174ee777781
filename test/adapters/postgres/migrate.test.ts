import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { migrate } from '../../../src/adapters/postgres/migrate.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { moduleAt, runModule } from '../../support/child.ts';
import { freshDatabase, queryText, run } from '../../support/database/database.ts';
import { aHolder, storedUser } from '../../support/database/stored.ts';
import { aFolderOf } from '../../support/folder.ts';

// The second takes longer than a client may wait for a lock.
const MIGRATIONS = {
  '0001_first.sql': 'create table first (id int); insert into first values (1);',
  '0002_second.sql': 'select pg_sleep(0.5); create table second (id int);',
};

function open(t: Test, url: string): Kysely<unknown> {
  const pool = new pg.Pool({ connectionString: url, lock_timeout: 100, statement_timeout: 5000 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  t.teardown(() => db.destroy());
  return db;
}

/** An empty database: the template's tables are dropped. */
async function emptyDatabase(t: Test): Promise<string | null> {
  const url = await freshDatabase(t);
  if (url !== null) {
    const db = open(t, url);
    await sql.raw('drop schema public cascade').execute(db);
    await sql.raw('create schema public').execute(db);
  }
  return url;
}

/** A process that migrates and prints what it applied. */
const migrator = (t: Test, url: string, directory: string) =>
  runModule(
    t,
    `import { createRequire } from 'node:module';
     import { migrate } from ${moduleAt(path.resolve('src/adapters/postgres/migrate.ts'))};
     const require = createRequire(${moduleAt(import.meta.filename)});
     const { Kysely, PostgresDialect } = require('kysely');
     const { Pool } = require('pg');
     const pool = new Pool({ connectionString: ${JSON.stringify(url)}, lock_timeout: 100, statement_timeout: 300 });
     const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
     console.log(JSON.stringify(await migrate(db, ${JSON.stringify(directory)})));
     await db.destroy();`,
  );

t.test('processes that migrate an empty database at once apply each migration once', async (t) => {
  const url = await emptyDatabase(t);
  if (url === null) return;
  const directory = aFolderOf(t, MIGRATIONS);
  const children = [1, 2, 3].map(() => migrator(t, url, directory));
  const applied = await Promise.all(children.map((child) => child.line()));
  t.same(applied.sort(), ['["0001_first","0002_second"]', '[]', '[]']);
  const { rows } = await sql`select count(*) from first`.execute(open(t, url));
  t.same(rows, [{ count: '1' }]);
});

t.test('a database that has a later migration first gets the earlier one', async (t) => {
  const url = await emptyDatabase(t);
  if (url === null) return;
  const later = { '0003_third.sql': 'create table third (id int);' };
  const db = open(t, url);
  t.same(await migrate(db, aFolderOf(t, later)), ['0003_third']);
  t.same(await migrate(db, aFolderOf(t, { ...MIGRATIONS, ...later })), ['0001_first', '0002_second']);
  t.same((await sql`select id from first`.execute(db)).rows, [{ id: 1 }]);
});

t.test('a failing migration rolls back its whole run, and the next run can continue', async (t) => {
  const url = await emptyDatabase(t);
  if (url === null) return;
  const directory = aFolderOf(t, { ...MIGRATIONS, '0003_wrong.sql': 'create table third (id nonsense);' });
  const db = open(t, url);
  await t.rejects(migrate(db, directory), { message: /nonsense/ });
  await t.rejects(sql`select * from first`.execute(db), { message: /does not exist/ });
  rmSync(path.join(directory, '0003_wrong.sql'));
  writeFileSync(path.join(directory, '0003_right.sql'), 'create table third (id int);');
  t.same(await migrate(db, directory), ['0001_first', '0002_second', '0003_right']);
  t.same(await migrate(db, directory), []);
});

t.test("the connection's limits are restored after a migration", async (t) => {
  const url = await emptyDatabase(t);
  if (url === null) return;
  const pool = new pg.Pool({ connectionString: url, lock_timeout: 100, max: 1 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  t.teardown(() => db.destroy());
  await migrate(db, aFolderOf(t, { '0001_first.sql': 'create table first (id int);' }));
  t.same((await sql`show lock_timeout`.execute(db)).rows, [{ lock_timeout: '100ms' }]);
});

t.test('a database newer than the program is refused', async (t) => {
  const url = await emptyDatabase(t);
  if (url === null) return;
  const directory = aFolderOf(t, MIGRATIONS);
  const db = open(t, url);
  await migrate(db, directory);
  rmSync(path.join(directory, '0002_second.sql'));
  writeFileSync(path.join(directory, '0003_third.sql'), 'create table third (id int);');
  await t.rejects(migrate(db, directory), {
    name: 'SchemaIsNewer',
    message:
      'this database belongs to a newer Berth (it has migration 0002_second; this version knows up to 0003_third): ' +
      'start that version, or restore a backup',
  });
  await t.rejects(sql`select * from third`.execute(db), { message: /does not exist/ }, 'nothing is changed');
});

const ALL = path.resolve('db/migrations');
/** The first migration unknown to the older process of a rolling update. */
const NEWER_FROM = '0022';
const SIGNED_IN = `insert into sessions (user_id, ip_address, user_agent, expires_at)
  select id, '', '', now() from users`;
const AUDITED = `insert into audit_records (user_id, action, ip_address, user_agent, details)
  select id, 'login', '', '', '' from users`;

const textsOf = (isPart: (file: string) => boolean): Record<string, string> =>
  Object.fromEntries(
    readdirSync(ALL)
      .filter(isPart)
      .map((file) => [file, readFileSync(path.join(ALL, file), 'utf8')]),
  );

/** A database of the older version with one user, and an open transaction of that version. */
async function olderVersion(t: Test) {
  const url = await emptyDatabase(t);
  if (url === null) return null;
  await migrate(
    open(t, url),
    aFolderOf(
      t,
      textsOf((file) => file < NEWER_FROM),
    ),
  );
  await run(url, `insert into users (username, tier) values ('ada', 'free')`);
  const older = await aHolder(t, url);
  await older.sql('set lock_timeout = 3000');
  return { url, older };
}

const countIn = async (t: Test, url: string, table: string): Promise<number> => {
  const { rows } = await sql<{ count: string }>`select count(*) from ${sql.table(table)}`.execute(
    open(t, url),
  );
  return Number(rows[0]?.count);
};

/** Migrations that wait for a sign-in of an older process; `commit` ends that, and them. */
async function waitingMigrations(t: Test) {
  const made = await olderVersion(t);
  if (made === null) return null;
  const { url, older } = made;
  await older.sql(SIGNED_IN);
  const migrating = migrate(open(t, url), ALL);
  await older.blocks(1);
  const commit = async (): Promise<void> => {
    await older.commit();
    t.match((await migrating)[0], NEWER_FROM);
  };
  return { url, older, commit };
}

t.test("an older process's sign-in and the migrations do not deadlock", async (t) => {
  const waiting = await waitingMigrations(t);
  if (waiting === null) return;
  await waiting.older.sql(AUDITED);
  await waiting.commit();
  for (const table of ['sessions', 'audit_records', 'audit_unsealed'])
    t.equal(await countIn(t, waiting.url, table), 1);
});

t.test('older processes keep writing while the migrations wait for a long transaction', async (t) => {
  const waiting = await waitingMigrations(t);
  if (waiting === null) return;
  const { url, commit } = waiting;
  for (const statement of [SIGNED_IN, AUDITED]) await run(url, `set lock_timeout = 3000; ${statement}`);
  await commit();
  t.equal(await countIn(t, url, 'sessions'), 2);
});

t.test("an older process's write during the migrations is kept", async (t) => {
  const made = await olderVersion(t);
  if (made === null) return;
  const { url, older: migration } = made;
  for (const text of Object.values(textsOf((file) => file >= NEWER_FROM))) await migration.sql(text);
  const audited = run(url, AUDITED);
  await migration.blocks(1);
  await migration.commit();
  await audited;
  const { rows } = await sql`select u.created_at <= r.created_at + interval '1 minute' as near
    from audit_unsealed u join audit_records r on r.id = u.record_id
    where u.created_at >= r.created_at - interval '1 minute'`.execute(open(t, url));
  t.same(rows, [{ near: true }], 'and is sealed in its time');
});

t.test('an older process that accepts an invitation makes the account with its end', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const accept = (name: string, end: string) =>
    run(
      url,
      `with person as (insert into users (username, tier) values ('${name}', 'free') returning id)
        insert into account_links (code_hash, kind, role, tier, created_by, expires_at, account_ends_at)
        select '${name}', 'invitation', 'user', 'free', id, now(), ${end} from person;
      update account_links set used_at = now(), user_id = (select id from users where username = '${name}')
        where code_hash = '${name}'`,
    );
  await accept('ada', "'2030-01-02T03:04:05Z'");
  await accept('bob', 'null');
  t.equal(
    await queryText(
      url,
      "select string_agg(username || ':' || coalesce((ends_at at time zone 'UTC')::date::text, '-'), ',' order by username) from users",
    ),
    'ada:2030-01-02,bob:-',
  );
});

/** A database, and its guest setting after the update. */
async function anInstallation(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  const upgraded = async (): Promise<boolean> => {
    await run(url, readFileSync('db/migrations/0030_guests_off.sql', 'utf8'));
    return (await storage.repositories.settings.read()).guestsEnabled;
  };
  return { storage, upgraded };
}

t.test('an upgrade leaves guests as they were, and a new installation starts without them', async (t) => {
  const fresh = await anInstallation(t);
  if (fresh === null) return;
  t.equal(await fresh.upgraded(), false, 'nobody uses it yet');

  const untouched = await anInstallation(t);
  if (untouched === null) return;
  await storedUser(untouched.storage);
  t.equal(await untouched.upgraded(), true, 'in use, with the setting as it came');

  const chosen = await anInstallation(t);
  if (chosen === null) return;
  await storedUser(chosen.storage);
  await chosen.storage.repositories.settings.change({ guestsEnabled: false });
  t.equal(await chosen.upgraded(), false, 'an administrator had turned them off');
});
