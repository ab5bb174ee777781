import t, { type Test } from 'tap';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { Ports } from '../../src/app/main/compose-options.ts';
import { CONTAINERS } from '../../src/cli/commands/containers/ls.ts';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';

async function aScene(t: Test, ports: Partial<Ports> = {}) {
  const service = await aService(ports);
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = await aPerson(service, 'ada');
  const { token } = await anApiToken(service, ada);
  return { service, address, ada, token, ...theCommand(t, address, token) };
}

t.test('a container is created, stopped, started, deleted and restored by name', async (t) => {
  const { run } = await aScene(t);
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
  const certain = await aScene(t);
  await certain.run(['create', 'dev', '--memory', '512m']);
  t.match(await certain.run(['set', 'dev', '--memory', '256m']), { code: 0 });
  const runtime = memoryRuntime();
  const changes = async () => ({ paths: [], complete: false, layerBytes: null, debian: null });
  const { run } = await aScene(t, { runtime, insight: { ...memoryAccess(runtime).insight, changes } });
  await run(['create', 'dev', '--memory', '512m']);
  t.match(await run(['set', 'dev', '--memory', '256m']), { code: 2, stderr: /--yes/ });
  t.match(await run(['set', 'dev', '--memory', '256m', '--yes']), { code: 0 });
});

t.test('where nothing can be carried over, new limits lose everything outside the volume', async (t) => {
  const runtime = memoryRuntime();
  Object.assign(runtime, { capabilities: { ...runtime.capabilities, takesSnapshots: false } });
  const { run } = await aScene(t, { runtime });
  await run(['create', 'dev', '--memory', '512m']);
  const asked = await run(['set', 'dev', '--memory', '256m']);
  t.match(asked, { code: 2, stderr: /^berth: Everything outside \/workspace will be lost\. Restart dev\?/ });
  t.notMatch(asked.stderr, '--carry-over');
  t.match(await run(['set', 'dev', '--memory', '256m', '--yes']), { code: 0 });
});

t.test('an agent has no limits to show', async (t) => {
  const { run } = await aScene(t);
  const made = await run(['create', 'dev', '--memory', '512m', '-o', 'json']);
  const container = JSON.parse(made.stdout);
  const agent = { ...container, agent: { platform: 'linux x64', last_seen_at: null } };
  const { memory, cpu, disk } = CONTAINERS.columns;
  const plain = (_: unknown, text: string): string => text;
  t.equal(memory?.(container, plain), '512 MB');
  for (const column of [memory, cpu, disk]) t.equal(column?.(agent, plain), '–');
});

t.test('a container that ends by itself is created without a name, found by label, and kept', async (t) => {
  const { run } = await aScene(t);
  const made = await run([
    'create',
    '--ephemeral',
    '--ttl',
    '2h',
    '--idle',
    '30m',
    '--label',
    'run=7',
    '-o',
    'json',
  ]);
  const { name, lifetime, labels } = JSON.parse(made.stdout);
  t.match([made.code, name, labels], [0, /^sandbox-/, { run: '7' }], made.stderr);
  t.match(lifetime, { ephemeral: true, idle_seconds: 1_800, on_idle: 'delete' });
  t.match(await run(['keep', name, '8h']), { code: 0, stderr: `${name} will not end by itself for 8 h.\n` });
  const kept = JSON.parse((await run(['keep', name, '-o', 'json'])).stdout);
  t.match(kept.would_stop, /^in 3600 s: it was kept until then/);
  t.match(await run(['keep', name, '10s']), { code: 1, stderr: /keep_seconds/ });
  t.match(await run(['create', 'x', '--on-idle', 'pause']), { code: 2 });
});

t.test('a newer service is mentioned once', async (t) => {
  const service = await aService({}, { version: '99.0.0' });
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const { run } = theCommand(t, address, token);
  t.match((await run(['ls'])).stderr, /has version 99\.0\.0, this command/);
  t.notMatch((await run(['ls'])).stderr, /version/);
});

t.test('exit codes and words say what is wrong and what to do', async (t) => {
  const { run, address } = await aScene(t);
  await run(['create', 'dev']);
  const outside = theCommand(t, address);
  const wrong = theCommand(t, address, `svc_${'0'.repeat(64)}`);
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
    ['no answer', await theCommand(t, 'http://127.0.0.1:9', 'x').run(['ls']), 1, /berth doctor/],
    ['another machine', await run(['migrate']), 1, /npx berth migrate/],
  ] as const) {
    t.match([ran.code, ran.stderr], [code, words], name);
    t.equal(ran.stdout, '', `${name}: stdout is for data`);
  }
  const json = await run(['stop', 'nothing', '-o', 'json']);
  t.match(JSON.parse(json.stderr), { error: /no container/, code: 'not_found' });
});
