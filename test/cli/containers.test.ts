import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import { CONTAINERS } from '../../src/cli/commands/containers/ls.ts';
import { theCommand, theCommandOfAda } from '../support/service/command.ts';

t.test('a container is created, stopped, started, deleted and restored by name', async (t) => {
  const { run } = await theCommandOfAda(t);
  const made = await run(['create', 'dev', '--memory', '512m', '--cpu', '0.5', '-e', 'A=1', '-o', 'json']);
  t.match([made.code, JSON.parse(made.stdout)], [0, { name: 'dev', status: 'running' }], made.stderr);
  t.match(JSON.parse(made.stdout).resources, { memory_mb: 512, cpu_shares: 500 });
  t.match(await run(['ls']), { code: 0, stdout: /^NAME +STATUS.*\ndev +running/, stderr: '' });
  t.match(await run(['ls', '-o', 'name']), { code: 0, stdout: 'dev\n' });
  t.match(await run(['stop', 'dev']), { code: 0, stdout: '', stderr: 'dev is stopped.\n' });
  t.match(await run(['-o', 'name', 'start', 'dev']), { code: 0, stdout: 'dev\n' });
  t.match(await run(['set', 'dev', '--name', 'box']), { code: 0 });
  t.match(await run(['rm', 'box']), { code: 2, stderr: /Repeat it with --yes/ }, 'nobody can be asked');
  t.match(await run(['rm', 'box', '--yes']), { code: 0, stderr: /Undo: berth restore box/ });
  t.match(await run(['ls']), { code: 0, stdout: '', stderr: /No containers/ });
  t.match(await run(['restore', 'box', '--start']), { code: 0, stderr: 'box is running.\n' });
});

t.test('new limits are confirmed unless it is certain that nothing is lost', async (t) => {
  const certain = await theCommandOfAda(t);
  await certain.run(['create', 'dev', '--memory', '512m']);
  t.match(await certain.run(['set', 'dev', '--memory', '256m']), { code: 0 });
  const runtime = memoryRuntime();
  const changes = async () => ({ paths: [], complete: false, layerBytes: null, debian: null });
  const { run } = await theCommandOfAda(t, {
    runtime,
    insight: { ...memoryAccess(runtime).insight, changes },
  });
  await run(['create', 'dev', '--memory', '512m']);
  t.match(await run(['set', 'dev', '--memory', '256m']), { code: 2, stderr: /--yes/ });
  t.match(await run(['set', 'dev', '--memory', '256m', '--yes']), { code: 0 });
});

t.test('where nothing can be carried over, new limits lose everything outside the volume', async (t) => {
  const runtime = memoryRuntime();
  Object.assign(runtime, { capabilities: { ...runtime.capabilities, takesSnapshots: false } });
  const { run } = await theCommandOfAda(t, { runtime });
  await run(['create', 'dev', '--memory', '512m']);
  const asked = await run(['set', 'dev', '--memory', '256m']);
  t.match(asked, { code: 2, stderr: /^berth: Everything outside \/workspace will be lost\. Restart dev\?/ });
  t.notMatch(asked.stderr, '--carry-over');
  t.match(await run(['set', 'dev', '--memory', '256m', '--yes']), { code: 0 });
});

t.test('an agent has no limits to show', async (t) => {
  const { run } = await theCommandOfAda(t);
  const made = await run(['create', 'dev', '--memory', '512m', '-o', 'json']);
  const container = JSON.parse(made.stdout);
  const agent = { ...container, agent: { platform: 'linux x64', last_seen_at: null } };
  const { memory, cpu, disk } = CONTAINERS.columns;
  const plain = (_: unknown, text: string): string => text;
  t.equal(memory?.(container, plain), '512 MB');
  for (const column of [memory, cpu, disk]) t.equal(column?.(agent, plain), '–');
});

t.test('a container that ends by itself is created without a name, found by label, and kept', async (t) => {
  const { run } = await theCommandOfAda(t);
  const made = await run('create --ephemeral --ttl 2h --idle 30m --label run=7 -o json'.split(' '));
  const { name, lifetime, labels } = JSON.parse(made.stdout);
  t.match([made.code, name, labels], [0, /^sandbox-/, { run: '7' }], made.stderr);
  t.match(lifetime, { ephemeral: true, idle_seconds: 1_800, on_idle: 'delete' });
  t.match(await run(['keep', name, '8h']), { code: 0, stderr: `${name} will not end by itself for 8 h.\n` });
  const kept = JSON.parse((await run(['keep', name, '-o', 'json'])).stdout);
  t.match(kept.would_stop, /^in 3600 s: it was kept until then/);
  t.match(await run(['keep', name, '10s']), { code: 1, stderr: /keep_seconds/ });
  t.match(await run(['create', 'x', '--on-idle', 'pause']), { code: 2 });
});

t.test('snapshots are taken, listed, used and deleted, and containers are forked', async (t) => {
  const ada = await theCommandOfAda(t);
  await ada.run(['create', 'dev']);
  const taken = await ada.run(['snapshots', 'create', 'dev', 'base', '--note', 'clean', '--label', 'a=b']);
  t.match(taken, { code: 0, stderr: /base is taken.*--snapshot base/ });
  const listed = await ada.run(['snapshots', 'ls', '--container', 'dev']);
  t.match(listed.stdout, /NAME +OF .*\nbase +dev +ready .* clean/);
  t.match(await ada.run(['snapshots', 'create', 'dev', 'base']), {
    code: 1,
    stderr: /already have a snapshot/,
  });
  const made = await ada.run(['create', 'again', '--snapshot', 'base']);
  t.match(made, { code: 0, stderr: /again is running/ });
  t.match(await ada.run(['create', 'x', '--snapshot', 'none']), { code: 1, stderr: /no snapshot "none"/ });
  const forks = await ada.run(['fork', 'dev', 'try', '--count', '2', '--ephemeral', '-o', 'name']);
  t.match(forks, { code: 0, stdout: 'try-1\ntry-2\n' });
  t.match(await ada.run(['fork', 'dev', '--count', '9']), { code: 2, stderr: /1 to 8/ });
  t.match(await ada.run(['snapshots', 'rm', 'base', '-y']), { code: 0, stderr: /base is deleted/ });
  t.match(await ada.run(['snapshots', 'ls']), { code: 0, stderr: /No snapshots/ });
  t.match(await ada.run(['snapshots', 'ls', '--deleted']), { code: 0, stdout: /base/ });
  t.match(await ada.run(['snapshots', 'restore', 'base', '--name', 'again']), {
    code: 0,
    stderr: /again is restored/,
  });
  t.match(await ada.run(['snapshots', 'ls']), { code: 0, stdout: /again/ });
  t.match(await ada.run(['snapshots', 'rm', 'again', '-y']), { code: 0 });
});

t.test('an older command says so, once for each version of the service', async (t) => {
  const { run, server } = await theCommandOfAda(t, {}, { version: '99.0.0' });
  const note = `The service has version 99.0.0, this command 0.0.0. Install it again from ${server}/settings/tokens`;
  t.match((await run(['ls'])).stderr, note);
  t.notMatch((await run(['ls'])).stderr, 'Install it again');
  t.match((await run(['doctor'])).stdout, /versions +warning +.*install the command again/);
});

t.test('doctor tells what is being tested from what is well', async (t) => {
  const part = { status: 'ready', detail: 'there' } as const;
  const others = { database: part, engine: part, image: part, disk: part, resources: part };
  const isolation = { status: 'testing', detail: 'being tested' } as const;
  const parts = { ...others, isolation };
  const { run } = await theCommandOfAda(t, {}, { readiness: async () => ({ status: 'ready', parts }) });
  const { stdout } = await run(['doctor']);
  t.match(stdout, /engine +ok/);
  t.match(stdout, /isolation +skipped +being tested: run this again in two minutes/);
});

t.test('exit codes and words say what is wrong and what to do', async (t) => {
  const { run, server } = await theCommandOfAda(t);
  await run(['create', 'dev']);
  const outside = theCommand(t, server);
  const wrong = theCommand(t, server, `svc_${'0'.repeat(64)}`);
  const away = theCommand(t, 'http://127.0.0.1:9', 'x').run(['ls', '-o', 'json']);
  for (const [name, ran, code, words] of [
    ['unknown command', await run(['lss']), 2, /Did you mean ls\?/],
    ['unknown option', await run(['ls', '--statuss']), 2, /unknown option/],
    ['bad size', await run(['create', 'x', '--memory', '5q']), 2, /512m or 2g/],
    ['bad name', await run(['create', 'not a name']), 1, /name /],
    ['taken name', await run(['create', 'dev']), 1, /already in use/],
    ['unknown container', await run(['stop', 'dve']), 1, /no container "dve"\. Did you mean dev\?/],
    ['nobody to pick', await run(['stats']), 2, /Name a container/],
    ['not signed in', await outside.run(['ls']), 4, /berth login --server/],
    ['no server', await theCommand(t, null).run(['ls']), 4, /berth login --server URL/],
    ['bad token', await wrong.run(['ls']), 4, /invalid, expired or revoked/],
    [
      'no answer',
      await theCommand(t, 'http://127.0.0.1:9', 'x').run(['ls']),
      1,
      /^No answer from http:.*:9 yet.*\nberth: http:\/\/127.0.0.1:9 did not respond\.\n.*berth doctor/,
    ],
    ['another machine', await run(['migrate']), 1, /npx berth migrate/],
    ['the Swarm of another', await run(['use-swarm', '--id', 'x']), 1, /npx berth use-swarm/],
  ] as const) {
    t.match([ran.code, ran.stderr], [code, words], name);
    t.equal(ran.stdout, '', `${name}: stdout is for data`);
  }
  const json = await run(['stop', 'nothing', '-o', 'json']);
  t.match(JSON.parse(json.stderr), { error: /no container/, code: 'not_found' });
  t.match(JSON.parse((await away).stderr), { error: /did not respond/, code: 'unreachable' });
});
