import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { spawn } from '@lydell/node-pty';
import t, { type Test } from 'tap';
import { tokenFrom } from '../../src/agent/identity/credential.ts';
import { unitText } from '../../src/agent/install/unit.ts';
import { aShell, testService } from '../support/agent/service.ts';
import { goes, runProcess } from '../support/child.ts';
import { aFolder } from '../support/folder.ts';
import { addressOf } from '../support/listen.ts';
import { waitFor } from '../support/patience.ts';

const PROGRAM = path.resolve('src/agent/bin/agent.ts');

/** `berth agent` with these arguments and this environment, in a home of its own. */
function started(t: Test, args: readonly string[], env: Readonly<Record<string, string>> = {}, input = '') {
  const state = env['XDG_STATE_HOME'] ?? aFolder(t);
  const set = Object.entries({ XDG_STATE_HOME: state, ...env }).map(([name, value]) => `${name}=${value}`);
  const command = [...set, process.execPath, PROGRAM, ...args];
  const [file, ...rest] =
    input === '' ? ['env', ...command] : ['sh', '-c', 'printf "%s\n" "$0" | env "$@"', input, ...command];
  return { ...runProcess(t, file as string, rest), folder: path.join(state, 'berth-agent') };
}

t.test(
  'it keeps its identity in a file of its own, and takes its token from one that only it can read',
  async (t) => {
    const service = await testService(t);
    const folder = aFolder(t);
    const token = path.join(folder, 'token');
    writeFileSync(token, 'svc_secret\n');
    const args = ['--server', service.address, '--token-file', token, '--name', 'shop'];
    const open = started(t, args);
    t.equal(await open.ended, 78);
    t.match(open.errors(), 'others can read');
    chmodSync(token, 0o600);
    const env = { XDG_STATE_HOME: folder };
    const agent = started(t, args, env);
    await waitFor(service.isConnected, { what: agent.errors });
    t.match(service.requests[0]?.headers, { authorization: 'Bearer svc_secret' });
    const [file = ''] = readdirSync(agent.folder);
    t.equal(statSync(path.join(agent.folder, file)).mode & 0o777, 0o600);
    agent.process.kill('SIGTERM');
    t.equal(await agent.ended, 0);
    t.notMatch(agent.errors(), 'svc_secret');
    const again = started(t, ['--server', service.address], { ...env, BERTH_TOKEN: 'svc_other' });
    await waitFor(() => service.greetings.length === 2, { what: again.errors });
    t.same(service.greetings[1]?.agent.id, service.greetings[0]?.agent.id);
    t.equal(service.greetings[1]?.agent.name, 'shop');
  },
);

t.test('the token of the environment goes to no other service than the one that it names', async (t) => {
  const service = await testService(t);
  const env = { BERTH_TOKEN: 'svc_x', HOME: aFolder(t) };
  const args = ['--server', service.address];
  const elsewhere = started(t, args, { ...env, BERTH_SERVER: 'https://other.example' });
  t.equal(await elsewhere.ended, 78);
  t.match(elsewhere.errors(), 'there is no token');
  t.same(service.requests, []);
  const same = started(t, args, { ...env, BERTH_SERVER: `${service.address}/` });
  await waitFor(service.isConnected, { what: same.errors });
});

t.test('an enrolled agent needs no valid address in the environment', async (t) => {
  const identity = { id: '1', name: 'shop', token: 'svc_enrolled' };
  const given = { server: 'https://berth.example', token: undefined, tokenFile: undefined, identity };
  for (const variables of [{}, { BERTH_TOKEN: 'svc_x' }])
    t.equal(await tokenFrom({ ...given, env: { BERTH_SERVER: 'berth', ...variables } }), 'svc_enrolled');
});

t.test('when it is killed its shells end, and it can start again at once', async (t) => {
  const service = await testService(t);
  const env = { XDG_STATE_HOME: aFolder(t), BERTH_TOKEN: 'svc_x', HOME: aFolder(t) };
  const first = started(t, ['--server', service.address], env);
  await waitFor(service.isConnected, { what: first.errors });
  const shell = service.open(aShell('main'));
  await waitFor(() => shell.reply());
  shell.channel.write(Buffer.from('sleep 1000 & echo "<$$ $!>"; wait\r'));
  await waitFor(() => /<\d+ \d+>/.test(shell.bytes().toString()));
  const pids = (/<(\d+) (\d+)>/.exec(shell.bytes().toString()) ?? []).slice(1).map(Number);
  first.process.kill('SIGKILL');
  for (const pid of pids) t.ok(await goes(pid), 'a program of the shell');
  const second = started(t, ['--server', service.address], env);
  await waitFor(() => service.greetings.length === 2, { what: second.errors });
  t.equal(service.greetings[1]?.session, null);
  t.match(shell.fault(), { code: 'lost' }, 'the service learns that it is lost');
});

t.test('what cannot work is said, and ends with a code that the unit does not repeat', async (t) => {
  const cases: [readonly string[], number, RegExp][] = [
    [[], 78, /which service\?/],
    [['--server', 'ftp://x'], 78, /not an http/],
    [['--server', 'http://192.0.2.1:1'], 78, /no TLS/],
    [['--server', 'http://127.0.0.1:1'], 78, /there is no token/],
    [['--server', 'http://127.0.0.1:1', '--token', 'a b'], 78, /is not a token/],
    [['--serve'], 2, /unknown option/],
    [['install', '--server', 'http://192.0.2.1:1'], 78, /no TLS/],
    [['install', '--print', '--insecure', '--server', 'http://192.0.2.1:1'], 0, /^$/],
  ];
  for (const [args, code, words] of cases) {
    const agent = started(t, args);
    t.equal(await agent.ended, code, args.join(' '));
    t.match(agent.errors(), words);
  }
});

t.test('a one-time code becomes a token of this machine', async (t) => {
  const bodies: string[] = [];
  const server = createServer(async (request, answer) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(`${request.method} ${request.url} ${body}`);
    const isGood = body.includes('good-code');
    answer
      .writeHead(isGood ? 201 : 404)
      .end(JSON.stringify(isGood ? { token: 'svc_own' } : { error: 'code not found' }));
  });
  const address = await addressOf(t, server);
  const without = started(t, ['install', '--server', address], { PATH: '/nowhere' }, 'good-code');
  t.equal(await without.ended, 78);
  t.match(without.errors(), /systemctl show failed: .*Without systemd run `enrol`/);
  t.same(bodies, [], 'the code is not spent where no unit can start');
  const bad = started(t, ['enrol', '--server', address], {}, 'bad-code');
  t.equal(await bad.ended, 78);
  t.match(bad.errors(), 'not enrolled: code not found');
  const good = started(t, ['enrol', '--server', address, '--name', 'shop'], {}, 'good-code');
  t.equal(await good.ended, 0, good.errors());
  const [file = ''] = readdirSync(good.folder);
  t.match(JSON.parse(readFileSync(path.join(good.folder, file), 'utf8')), { name: 'shop', token: 'svc_own' });
  t.match(
    bodies.at(-1),
    /^POST \/api\/agents\/enrol \{"code":"good-code","agent":"[0-9a-f-]{36}","name":"shop"\}$/,
  );
  const typed = ['enrol', '--server', address, '--name', 'typed'];
  const env = { ...process.env, XDG_STATE_HOME: aFolder(t) };
  const terminal = spawn(process.execPath, [PROGRAM, ...typed], { env });
  t.teardown(() => terminal.kill());
  let shown = '';
  terminal.onData((text) => {
    shown += text;
  });
  await waitFor(() => shown.includes('Code: '), { what: () => shown });
  terminal.write('good-code\r');
  await waitFor(() => shown.includes('enrolled at'), { what: () => shown });
  t.notMatch(shown, 'good-code', 'a typed code is not shown');
});

t.test(
  'the unit loads the token as a credential, and does not start again what waiting cannot help',
  async (t) => {
    const options = {
      program: ['/opt/berth 2/node', '/opt/100%/agent.js'],
      server: 'https://berth.example.com',
      isInsecure: false,
    };
    const unit = unitText({ ...options, user: 'alice', tokenFile: '/etc/berth-agent/token' });
    t.match(unit, 'ExecStart="/opt/berth 2/node" /opt/100%%/agent.js --server https://berth.example.com\n');
    t.match(unit, 'User=alice\n');
    t.match(unit, 'LoadCredential=berth-token:/etc/berth-agent/token\n');
    t.match(unit, 'RestartPreventExitStatus=69 75 76 77 78\n');
    const own = unitText({ ...options, user: null, tokenFile: '/home/a/token' });
    t.match(own, '--token-file /home/a/token\n');
    t.notMatch(own, 'User=');
  },
);
