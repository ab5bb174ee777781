import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { postgresAuditChain } from '../../src/adapters/postgres/audit-chain.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { checkAudit } from '../../src/app/audit-check.ts';
import { embeddedUrlOf } from '../support/database/embedded.ts';
import { engineOrSkip } from '../support/engine/engine.ts';
import { aKeptContainer, type Call, eventually, inside, readCanary } from '../support/process/fault-scene.ts';
import { aPlace, type Place, whileRunning } from '../support/process/running-service.ts';

/** As docs/backup.md says: everything below the data folder but what the engine and the host keep. */
const BACKED_UP = ['postgres', 'secret.json', 'replica'];

t.setTimeout(600_000);

/** A copy of the data folder of a service that is stopped, where another service can be started. */
function restored(t: Test, { env, dataDir }: Place): Place {
  const copy = mkdtempSync(path.join(tmpdir(), 'berth-e2e-'));
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of BACKED_UP) cpSync(path.join(dataDir, name), path.join(copy, name), OWNED);
  return { dataDir: copy, env: { ...env, BERTH_DATA_DIR: copy } };
}

const OWNED = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };

const status = (call: Call, id: string) => async () =>
  (await call('GET', `/api/containers/${id}`)).body['status'];

t.test('a database that is put back meets an engine that went on: nothing is lost', async (t) => {
  const engine = await engineOrSkip(t);
  const place = await aPlace(t);
  if (engine === null || place === null) return;
  const before = await whileRunning(t, place, async (call) => ({
    kept: await aKeptContainer(call, 'kept'),
    deleted: await aKeptContainer(call, 'deleted'),
  }));
  const copy = restored(t, place);
  const made = await whileRunning(t, place, async (call) => {
    await inside(call, before.kept.dbId, 'echo later > /workspace/later');
    t.equal((await call('DELETE', `/api/containers/${before.deleted.dbId}`)).status, 200);
    return await aKeptContainer(call, 'made-later');
  });

  await whileRunning(t, copy, async (call) => {
    const { kept, deleted } = before;
    const db = openDatabase(openPool({ url: await embeddedUrlOf(copy.dataDir) }));
    const audit = () => checkAudit(postgresAuditChain(db), null);
    const restoredAudit = await audit();
    t.equal(restoredAudit.kind, 'whole');
    t.equal(await status(call, kept.dbId)(), 'running', 'it never noticed');
    t.equal(await inside(call, kept.dbId, 'cat /workspace/canary /workspace/later'), 'kept\nlater\n');

    t.equal(await eventually(status(call, deleted.dbId), (one) => one === 'stopped'), 'stopped');
    const again = await call('POST', `/api/containers/${deleted.dbId}/start`);
    t.match(again.body, { recreated: true, volume_kept: true }, 'what was deleted since is there again');
    t.equal(await readCanary(call, deleted.dbId), 'kept\n');

    t.equal(
      (await call('GET', `/api/containers/${made.dbId}`)).status,
      404,
      'no row knows what was made since',
    );
    const stray = engine.docker.getContainer(made.id);
    const isStopped = async () => !(await stray.inspect()).State.Running;
    t.ok(await eventually(isStopped, Boolean), 'its container is stopped, and still there');
    const volumes = (await stray.inspect()).Mounts.map(({ Name = '' }) => Name).filter((name) => name !== '');
    t.ok(volumes.length > 0);
    for (const name of volumes) t.ok(await engine.docker.getVolume(name).inspect(), 'and so is its volume');

    const lengthOf = (verdict: Awaited<ReturnType<typeof audit>>): number =>
      verdict.kind === 'whole' ? Number(verdict.head.seq) : -1;
    const now = await eventually(audit, (verdict) => lengthOf(verdict) > lengthOf(restoredAudit));
    t.ok(lengthOf(now) > lengthOf(restoredAudit), 'sealing goes on where it was, and the audit holds');
    await db.destroy();
  });
});
