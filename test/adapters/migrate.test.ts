import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate } from '../../src/adapters/postgres/migrate.ts';
import { moduleAt, runModule } from '../support/child.ts';
import { freshDatabase } from '../support/database.ts';
import { aFolderOf } from '../support/folder.ts';

// The second one takes longer than a client may wait for a lock.
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

t.test('a migration that fails takes the others of its run back, and the next run can go on', async (t) => {
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

t.test('the limits of the connection hold again afterwards', async (t) => {
  const url = await emptyDatabase(t);
  if (url === null) return;
  const pool = new pg.Pool({ connectionString: url, lock_timeout: 100, max: 1 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  t.teardown(() => db.destroy());
  await migrate(db, aFolderOf(t, { '0001_first.sql': 'create table first (id int);' }));
  t.same((await sql`show lock_timeout`.execute(db)).rows, [{ lock_timeout: '100ms' }]);
});

t.test('a database that is ahead of the program is refused', async (t) => {
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
