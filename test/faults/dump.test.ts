import path from 'node:path';
import t, { type Test } from 'tap';
import { runProcess } from '../support/child.ts';
import { systemPostgres } from '../support/database/system-postgres.ts';
import { aFolder } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import { aKeptContainer, inside, readCanary, small } from '../support/process/fault-scene.ts';
import { aPlace, whileRunning } from '../support/process/running-service.ts';

const WHOLE = /^the audit is whole: [1-9]/;
const COMMANDS = path.resolve('src/app/main/bin/berth.ts');

t.setTimeout(600_000);

/** What the command says of the audit in this database. */
function verified(t: Test, url: string): Promise<string> {
  const command = [process.execPath, COMMANDS, 'audit', 'verify'];
  return runProcess(t, '/usr/bin/env', [`DATABASE_URL=${url}`, ...command]).line();
}

t.test('a dump made while Berth runs is restored as docs/backup.md says', async (t) => {
  const postgres = await systemPostgres(t);
  if (postgres === null) return;
  const [url, restoredUrl] = [postgres.url('berth'), postgres.url('berth_restored')];
  const place = await aPlace(t, { DATABASE_URL: url });
  if (place === null) return;
  const file = path.join(aFolder(t), 'berth.dump');
  await postgres.run('createdb', `--maintenance-db=${postgres.url('postgres')}`, 'berth');
  const kept = await whileRunning(t, place, async (call) => {
    const kept = await aKeptContainer(call);
    // What is sealed by now is what the dump is judged by.
    await waitFor(async () => WHOLE.test(await verified(t, url)), { patienceMs: 60_000 });
    await postgres.run('pg_dump', '--format=custom', `--file=${file}`, url);
    const later = await call('PATCH', `/api/containers/${kept.dbId}`, { name: 'later', ...small });
    t.equal(later.status, 200);
    await inside(call, kept.dbId, 'echo later > /workspace/later');
    return kept;
  });

  await postgres.run('createdb', `--maintenance-db=${postgres.url('postgres')}`, 'berth_restored');
  await postgres.run('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${restoredUrl}`, file);
  t.match(await verified(t, restoredUrl), WHOLE);
  const after = { ...place, env: { ...place.env, DATABASE_URL: restoredUrl } };
  await whileRunning(t, after, async (call) => {
    const found = await call('GET', `/api/containers/${kept.dbId}`);
    t.match(found.body, { name: 'kept', status: 'running' }, 'the row is that of the dump');
    t.equal(await readCanary(call, kept.dbId), 'kept\n');
    t.equal(await inside(call, kept.dbId, 'cat /workspace/later'), 'later\n', 'the files went on');
    t.equal((await call('POST', `/api/containers/${kept.dbId}/stop`)).status, 200);
    t.equal((await call('DELETE', `/api/containers/${kept.dbId}`)).status, 200, 'and it works on');
  });
});
