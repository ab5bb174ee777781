import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { processes } from '../../src/adapters/docker/host/host-commands.ts';
import { freshDatabase, run } from '../support/database/database.ts';
import { aFolder } from '../support/folder.ts';
import { FAULTY, inside, readCanary, small } from '../support/process/fault-scene.ts';
import { anInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

t.test(
  'a service goes from nothing to a shell, through a kill and an uncaught error, to its end',
  async (t) => {
    const installation = await anInstallation(t);
    if (installation === null) return;
    const first = await startService(t, installation);
    const token = await signInAdmin(first);
    const call = client(first.address, token);
    t.match((await call('GET', '/readyz')).body, { status: 'ready' });

    const made = await call('POST', '/api/containers', { name: 'dev', ...small });
    t.equal(made.status, 201);
    const { db_id: dbId, id } = made.body as { db_id: string; id: string };
    const at = { address: first.address.replace('http', 'ws'), dbId, token };
    const shell = await terminalClient(at, { cols: 100, rows: 30 }, { origin: first.address });
    shell.socket.send(Buffer.from('echo "=$((6*7))= $(stty size)"\r'));
    // The screen has the size that was asked for.
    await shell.until(() => shell.output().includes('=42= 30 100'));
    shell.socket.terminate();
    await inside(call, dbId, 'echo kept > /workspace/canary');

    const postmaster = path.join(installation.dataDir, 'postgres/pgdata/postmaster.pid');
    const postgres = (): number => Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
    const before = postgres();
    await first.stop('SIGKILL');
    const env = { ...installation.env, FAULT_AT: 'create before commit', FAULT_SIGNAL: 'throw' };
    const second = await startService(t, { ...installation, env }, FAULTY);
    t.equal(second.setupCode, null);
    const again = client(second.address, await signInAdmin(second));
    const found = await again('GET', `/api/containers/${dbId}`);
    t.match(found.body, { id, status: 'running' }, 'it never stopped');
    t.equal(await readCanary(again, dbId), 'kept\n');
    t.equal(postgres(), before, 'the database that was left is the one in use');

    const other = await again('POST', '/api/containers', { name: 'other', ...small });
    t.equal(other.status, 201, 'what was under way at an uncaught error is done');
    t.equal(await second.ended, 70);
    const said = second
      .output()
      .split('\n')
      .filter((line) => line.includes('a wire is loose'));
    t.equal(said.length, 1, 'in one line');
    const logged = JSON.parse(said[0] ?? '{}');
    t.match(logged, { level: 60, msg: /uncaught error/, err: { stack: /faulty-server/ } });
    const [, file = '', line] = /\((src\/app\/\S+\.ts):(\d+):\d+\)/.exec(logged.err.stack) ?? [];
    t.match(readFileSync(file, 'utf8').split('\n')[Number(line) - 1], /checkpoint\(/, 'it names the source');
    t.notOk(
      (await processes()).some(({ pid }) => pid === before),
      'its database is stopped',
    );

    const third = await startService(t, installation);
    const last = client(third.address, await signInAdmin(third));
    for (const one of [dbId, other.body['db_id']]) {
      t.match((await last('GET', `/api/containers/${one}`)).body, { status: 'running' });
      t.equal((await last('DELETE', `/api/containers/${one}`)).status, 200);
    }
    t.equal(await third.stop(), 0, 'ends cleanly');
  },
);

t.test('bad settings are all listed at once, and nothing starts', async (t) => {
  const env = { PATH: process.env['PATH'], BERTH_PORT: 'x', BERTH_LOG_LEVEL: 'loud' };
  const { status, stderr } = spawnSync(process.execPath, ['dist/app/main/bin/server.js'], {
    env,
    encoding: 'utf8',
  });
  t.equal(status, 78);
  t.match(stderr, /BERTH_PORT must be .*\n.*BERTH_LOG_LEVEL must be/);
});

t.test("a newer version's database is left alone, with a message", async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  await run(url, "insert into kysely_migration (name, timestamp) values ('9999_to_come', 'later')");
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: url,
    BERTH_PORT: '0',
    BERTH_ENGINE: 'external',
    BERTH_DATA_DIR: aFolder(t),
  };
  for (const program of [['server.js'], ['berth.js', 'migrate']]) {
    const [name = '', ...args] = program;
    const { status, stderr } = spawnSync(process.execPath, [`dist/app/main/bin/${name}`, ...args], {
      env,
      encoding: 'utf8',
    });
    t.equal(status, 78, name);
    t.match(
      stderr,
      /this database belongs to a newer Berth \(it has migration 9999_to_come; .*start that version/,
    );
  }
});
