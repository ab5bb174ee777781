import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import t from 'tap';
import { startEmbedded } from '../../src/adapters/postgres/embedded.ts';
import { runModule } from '../support/child.ts';
import { aCopy, ask, goes, isThere, serverOf, start, starter } from '../support/database/embedded.ts';
import { aFolder } from '../support/folder.ts';

const asRoot = process.getuid?.() === 0;

/** The database that the first test makes; the others begin with a copy of it. */
const made = aFolder(t);

t.test('the first start makes a database that only we can enter, and the next one finds it', async (t) => {
  const root = made;
  const first = await start(t, root);
  t.equal(await ask(first.url(), 'show listen_addresses'), '', 'no TCP');
  t.equal(statSync(path.join(root, 'pgdata')).mode & 0o777, 0o700);
  t.equal(statSync(path.join(root, 'run')).mode & 0o777, 0o700);
  await ask(first.url(), 'create table kept as select 42 as answer');
  await first.stop();
  await first.stop();
  t.notOk(existsSync(path.join(root, 'pgdata', 'postmaster.pid')), 'it waits for the end');
  t.ok(await goes(first.pid));
  const second = await start(t, root);
  t.equal(await ask(second.url(), 'select answer from kept'), '42');
  await ask(second.url(), 'drop table kept');
});

t.test('as root, the server runs as a user that nobody is', { skip: !asRoot && 'needs root' }, async (t) => {
  const server = await start(t, aCopy(t, made));
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
  t.ok(uid >= 61_000 && uid < 61_184, `${uid}`);
  t.match(status, /^NoNewPrivs:\s+1$/m);
});

t.test('other users of the machine are not let in', { skip: !asRoot && 'needs root' }, async (t) => {
  const server = await start(t, aCopy(t, made));
  const module = JSON.stringify(path.resolve('node_modules/pg/lib/index.js'));
  const intruder = runModule(
    t,
    `import { createRequire } from 'node:module';
     const pg = createRequire('/')(${module});
     process.setgid(65534); process.setuid(65534);
     const client = new pg.Client({ connectionString: ${JSON.stringify(server.url())} });
     await client.connect().then(() => console.log('in'), (error) => console.log(error.code));
     process.exit();`,
  );
  t.equal(await intruder.line(), 'EACCES');
});

t.test('the server that a killed process left is taken over', async (t) => {
  const root = aCopy(t, made);
  const killed = starter(t, root);
  const before = await serverOf(killed);
  await ask(before.url, 'create table kept as select 42 as answer');
  killed.process.kill('SIGKILL');
  await once(killed.process, 'exit');
  t.ok(isThere(before.pid), 'the server outlives it');
  const after = await start(t, root);
  t.equal(after.pid, before.pid);
  t.equal(await ask(after.url(), 'select answer from kept'), '42');
  await after.stop();
  t.ok(await goes(before.pid), 'and stops with its new owner');
});

t.test('a server with other settings is stopped and started anew', async (t) => {
  const root = aCopy(t, made);
  const before = await start(t, root);
  const after = await startEmbedded(root);
  t.teardown(() => after.stop());
  t.ok(await goes(before.pid));
  t.equal(await ask(after.url(), 'show fsync'), 'on');
});

t.test('a lock file whose number belongs to another program by now is no obstacle', async (t) => {
  const root = aCopy(t, made);
  const before = await start(t, root);
  const file = path.join(root, 'pgdata', 'postmaster.pid');
  const lines = readFileSync(file, 'utf8').split('\n').slice(1);
  const { uid } = statSync(path.join(root, 'pgdata'));
  await before.stop();
  const stranger = spawn('sleep', ['60'], asRoot ? { uid, gid: uid } : {});
  t.teardown(() => stranger.kill());
  writeFileSync(file, [stranger.pid, ...lines].join('\n'));
  const after = await start(t, root);
  t.equal(await ask(after.url(), 'select 42'), '42');
  t.equal(stranger.exitCode, null, 'the other program is left alone');
});

t.test('a database crash is recovered from', async (t) => {
  const root = aCopy(t, made);
  const before = await start(t, root);
  await ask(before.url(), 'create table kept as select 42 as answer');
  await ask(before.url(), 'checkpoint');
  process.kill(before.pid, 'SIGKILL');
  const after = await start(t, root);
  t.not(after.pid, before.pid);
  t.equal(await ask(after.url(), 'select answer from kept'), '42');
});

t.test('an initialisation that was broken off is begun again', async (t) => {
  const root = aFolder(t);
  mkdirSync(path.join(root, 'pgdata.new'));
  writeFileSync(path.join(root, 'pgdata.new', 'PG_VERSION'), '18\n');
  const server = await start(t, root);
  t.equal(await ask(server.url(), 'select 42'), '42');
});

t.test('stopping does not wait for clients', async (t) => {
  const server = await start(t, aCopy(t, made));
  const client = new pg.Client({ connectionString: server.url() });
  client.on('error', () => {});
  await client.connect();
  const query = client.query('select pg_sleep(3600)');
  await Promise.all([server.stop(), t.rejects(query, { code: '57P01' })]);
});

t.test('a data folder with a long path gets its socket elsewhere', async (t) => {
  const root = path.join(aFolder(t), 'x'.repeat(100), 'y'.repeat(100));
  mkdirSync(root, { recursive: true });
  renameSync(path.join(aCopy(t, made), 'pgdata'), path.join(root, 'pgdata'));
  const server = await start(t, root);
  const directory = await ask(server.url(), 'show unix_socket_directories');
  t.ok(directory.length < 90 && !directory.startsWith(root), directory);
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  t.equal(await ask(server.url(), 'select 42'), '42');
});

t.test(
  'data of another major version is left alone, and the message names both and the way out',
  async (t) => {
    const root = aFolder(t);
    mkdirSync(path.join(root, 'pgdata'));
    writeFileSync(path.join(root, 'pgdata', 'PG_VERSION'), '9\n');
    await t.rejects(startEmbedded(root), {
      message: /made by PostgreSQL 9.*has \d+.*postgresql-9.*DATABASE_URL/,
    });
    t.equal(readFileSync(path.join(root, 'pgdata', 'PG_VERSION'), 'utf8'), '9\n');
  },
);
