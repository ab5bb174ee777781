import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { addRecord } from '../../src/adapters/engine-record.ts';
import { aFolder } from '../support/folder.ts';
import { small } from '../support/process/fault-scene.ts';
import { aQuickInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';

t.test('uninstalling one of several processes removes nothing while another runs', async (t) => {
  const first = await aQuickInstallation(t, { BERTH_JWT_SECRET: randomBytes(48).toString('base64') });
  if (first === null) return;
  const second = { dataDir: aFolder(t), env: { ...first.env } };
  second.env['BERTH_DATA_DIR'] = second.dataDir;
  const stopped = await startService(t, first);
  const token = await signInAdmin(stopped);
  const running = await startService(t, second);
  const call = client(running.address, token);
  const made = await call('POST', '/api/containers', { name: 'dev', ...small });
  await stopped.stop();
  const refused = spawnSync(process.execPath, ['dist/app/main/bin/berth.js', 'uninstall', '--yes'], {
    env: { ...process.env, ...first.env },
    encoding: 'utf8',
  });
  t.match(refused, {
    status: 1,
    stderr: /Other processes of Berth run on this database[\s\S]*stop them first/,
  });
  t.ok(existsSync(first.dataDir));
  const { body } = await call('POST', `/api/containers/${made.body['db_id']}/exec`, { command: ['true'] });
  t.match(body, { exit_code: 0 });
});

t.test('uninstalling refuses a folder that is not of Berth', async (t) => {
  const dataDir = aFolder(t);
  writeFileSync(path.join(dataDir, 'precious'), '');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['dist/app/main/bin/berth.js', 'uninstall', '--yes'],
    { env: { PATH: process.env['PATH'], BERTH_DATA_DIR: dataDir }, encoding: 'utf8' },
  );
  t.match([status, stderr], [1, /is not a data folder of Berth/]);
  t.same(readdirSync(dataDir), ['precious']);
});

t.test('no command makes a new database where the settings of the service are missing', async (t) => {
  const dataDir = aFolder(t);
  for (const name of ['lock', 'replica']) writeFileSync(path.join(dataDir, name), '');
  await addRecord(dataDir, { kind: 'private', remap: false });
  for (const command of [
    ['audit', 'verify'],
    ['uninstall', '--yes'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, ['dist/app/main/bin/berth.js', ...command], {
      env: { PATH: process.env['PATH'], BERTH_DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    t.match([status, stderr], [78, /has no database: set BERTH_DATA_DIR or DATABASE_URL/], command.join(' '));
  }
  t.notOk(existsSync(path.join(dataDir, 'postgres')));
});
