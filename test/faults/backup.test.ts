import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { postgresAuditChain } from '../../src/adapters/postgres/audit-chain.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/connection/database.ts';
import { startEmbedded } from '../../src/adapters/postgres/embedded/index.ts';
import { accountForInitdb } from '../../src/adapters/postgres/embedded/os-account.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { checkAudit } from '../../src/app/audit/verify-audit.ts';
import { embeddedUrlOf } from '../support/database/database.ts';
import { poolOf } from '../support/engine/container.ts';
import { engineOrSkip } from '../support/engine/engine.ts';
import { aFolder } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import {
  aContainerWithCanary,
  type Call,
  eventually,
  inside,
  readCanary,
  small,
} from '../support/process/fault-scene.ts';
import { anInstallation, type Installation, whileRunning } from '../support/process/running-service.ts';
import { needs } from '../support/run/infra.ts';

const execute = promisify(execFile);

/** A server of the distribution's PostgreSQL, and its programs. */
type SystemPostgres = {
  readonly url: (database: string) => string;
  /** Runs `pg_dump` and the like; throws their errors. */
  readonly run: (program: string, ...args: string[]) => Promise<void>;
};

/** One that runs until `t` ends; null when the test was skipped because the distribution's package is not installed. */
async function systemPostgres(t: Test): Promise<SystemPostgres | null> {
  const part = await needs(t, 'systemPostgres');
  if (part === null) return null;
  const program = (name: string): string => path.join(part.programs, name);
  const root = aFolder(t, 0o711);
  await initialise(path.join(root, 'pgdata'), program('initdb'));
  // It continues with the version that made the data.
  const server = await startEmbedded(root, { durable: false });
  t.teardown(() => server.stop());
  return {
    url: server.url,
    run: async (name, ...args) => void (await execute(program(name), args, { cwd: root })),
  };
}

async function initialise(data: string, initdb: string): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  const account = accountForInitdb([initdb, data]);
  if (process.getuid?.() === 0) await chown(data, account.uid, account.uid);
  const settings = ['-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '--auth=trust', '--no-sync'];
  const { file, args } = account.command(initdb, ['-D', data, ...settings]);
  await execute(file, args, { cwd: data });
}

/** As in docs/backup.md: everything below the data folder that the engine and the host do not keep. */
const BACKED_UP = ['postgres', 'secret.json', 'replica'];
const OWNED = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };

t.setTimeout(600_000);

/** A copy of a stopped service's data folder, for another service. */
function restored(t: Test, { env, dataDir }: Installation): Installation {
  const copy = mkdtempSync(path.join(tmpdir(), 'berth-e2e-'));
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of BACKED_UP) cpSync(path.join(dataDir, name), path.join(copy, name), OWNED);
  return { dataDir: copy, env: { ...env, BERTH_DATA_DIR: copy } };
}

const status = (call: Call, id: string) => async () =>
  (await call('GET', `/api/containers/${id}`)).body['status'];

/** The length of a database's audit; -1 when it is not intact. */
async function sealedIn(url: string): Promise<number> {
  const db = openDatabase(openPool({ url }));
  const verdict = await checkAudit(postgresAuditChain(db), null).finally(() => db.destroy());
  return verdict.kind === 'whole' ? Number(verdict.head.seq) : -1;
}

/** Waits for the member of the warm pool; returns its db id. */
async function memberIn(dataDir: string): Promise<string> {
  const db = openDatabase(openPool({ url: await embeddedUrlOf(dataDir) }));
  const [dbId = ''] = await poolOf(postgresStorage(db), 1).finally(() => db.destroy());
  return dbId;
}

t.test('a restored database meets an engine that ran on, and nothing is lost', async (t) => {
  const engine = await engineOrSkip(t);
  const installation = await anInstallation(t, { BERTH_WARM_POOL: '1' });
  if (engine === null || installation === null) return;
  const before = await whileRunning(t, installation, async (call) => ({
    kept: await aContainerWithCanary(call, 'kept'),
    deleted: await aContainerWithCanary(call, 'deleted'),
    changed: await aContainerWithCanary(call, 'changed'),
    member: await memberIn(installation.dataDir),
  }));
  const copy = restored(t, installation);
  const made = await whileRunning(t, installation, async (call) => {
    await inside(call, before.kept.dbId, 'echo later > /workspace/later');
    t.equal((await call('DELETE', `/api/containers/${before.deleted.dbId}`)).status, 200);
    for (const memory_mb of [small.memory_mb + 64, small.memory_mb]) {
      const { dbId } = before.changed;
      const answer = await call('PATCH', `/api/containers/${dbId}`, { name: 'changed', ...small, memory_mb });
      t.equal(answer.status, 200);
    }
    return await aContainerWithCanary(call, 'made-later');
  });
  t.equal(made.dbId, before.member, 'it was claimed from the warm pool, whose row is in the copy');

  await whileRunning(t, copy, async (call) => {
    const { kept, deleted, changed } = before;
    const url = await embeddedUrlOf(copy.dataDir);
    const restoredLength = await sealedIn(url);
    t.ok(restoredLength >= 0, 'the audit holds');
    t.equal(await status(call, kept.dbId)(), 'running', 'it never noticed');
    t.equal(await inside(call, kept.dbId, 'cat /workspace/canary /workspace/later'), 'kept\nlater\n');

    const shown = async () => (await call('GET', `/api/containers/${changed.dbId}`)).body;
    const adopted = await eventually(shown, ({ id }) => id !== changed.id);
    t.match(adopted, { status: 'running' }, 'one with new limits runs on');
    t.not(adopted['id'], changed.id);
    t.equal(await readCanary(call, changed.dbId), 'kept\n');

    t.equal(await eventually(status(call, deleted.dbId), (one) => one === 'stopped'), 'stopped');
    const again = await call('POST', `/api/containers/${deleted.dbId}/start`);
    t.match(again.body, { recreated: true, volume_kept: true }, 'what was deleted since is there again');
    t.equal(await readCanary(call, deleted.dbId), 'kept\n');

    t.equal(
      (await call('GET', `/api/containers/${made.dbId}`)).status,
      404,
      'no row knows what was made since',
    );
    const next = await aContainerWithCanary(call, 'next');
    t.not(next.dbId, made.dbId, 'nobody else gets it');
    t.not(await memberIn(copy.dataDir), made.dbId);
    const stray = engine.docker.getContainer(made.id);
    const isStopped = async () => !(await stray.inspect()).State.Running;
    t.ok(await eventually(isStopped, Boolean), 'its container is stopped, and still there');
    const volumes = (await stray.inspect()).Mounts.map(({ Name = '' }) => Name).filter((name) => name !== '');
    t.ok(volumes.length > 0);
    t.ok(volumes.includes(`ws-${made.dbId}`));
    for (const name of volumes) t.ok(await engine.docker.getVolume(name).inspect(), 'and so is its volume');

    const now = await eventually(
      () => sealedIn(url),
      (seq) => seq > restoredLength,
    );
    t.ok(now > restoredLength, 'sealing goes on where it was, and the audit holds');
  });
});

t.test('a dump made while Berth runs is restored as docs/backup.md says', async (t) => {
  const postgres = await systemPostgres(t);
  if (postgres === null) return;
  const [url, restoredUrl] = [postgres.url('berth'), postgres.url('berth_restored')];
  const installation = await anInstallation(t, { DATABASE_URL: url });
  if (installation === null) return;
  const file = path.join(aFolder(t), 'berth.dump');
  await postgres.run('createdb', `--maintenance-db=${postgres.url('postgres')}`, 'berth');
  const kept = await whileRunning(t, installation, async (call) => {
    const kept = await aContainerWithCanary(call);
    // The dump is judged by what is sealed now.
    await waitFor(async () => (await sealedIn(url)) > 0, { everyMs: 100, patienceMs: 60_000 });
    await postgres.run('pg_dump', '--format=custom', `--file=${file}`, url);
    const later = await call('PATCH', `/api/containers/${kept.dbId}`, { name: 'later', ...small });
    t.equal(later.status, 200);
    await inside(call, kept.dbId, 'echo later > /workspace/later');
    return kept;
  });

  await postgres.run('createdb', `--maintenance-db=${postgres.url('postgres')}`, 'berth_restored');
  await postgres.run('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${restoredUrl}`, file);
  t.ok((await sealedIn(restoredUrl)) > 0, 'the audit holds');
  const after = { ...installation, env: { ...installation.env, DATABASE_URL: restoredUrl } };
  await whileRunning(t, after, async (call) => {
    const found = await call('GET', `/api/containers/${kept.dbId}`);
    t.match(found.body, { name: 'kept', status: 'running' }, 'the row is that of the dump');
    t.equal(await readCanary(call, kept.dbId), 'kept\n');
    t.equal(await inside(call, kept.dbId, 'cat /workspace/later'), 'later\n', 'the files went on');
    t.equal((await call('POST', `/api/containers/${kept.dbId}/stop`)).status, 200);
    t.equal((await call('DELETE', `/api/containers/${kept.dbId}`)).status, 200, 'and it works on');
  });
});
