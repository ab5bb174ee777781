import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { waitFor } from '../support/patience.ts';
import { theCommand, theCommandOfAda } from '../support/service/command.ts';
import { aServiceInTime } from '../support/service/factors.ts';
import { aPerson, as, sessionsOf } from '../support/service/service.ts';
import { serverOf } from '../support/terminal/terminals.ts';

t.test('an API token is read from standard input, kept for its owner alone, and never shown', async (t) => {
  const { server, token } = await theCommandOfAda(t);
  const { home, run } = theCommand(t, null);
  const signedIn = await run(['login', '--server', server, '--with-token'], `${token}\n`);
  t.match(signedIn, { code: 0, stderr: /Signed in to .* as ada/ });
  const file = path.join(home, 'config', 'berth', 'hosts.json');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  const me = await run(['whoami', '-o', 'json']);
  t.match(JSON.parse(me.stdout), { username: 'ada', server });
  const refused = await run(['tokens', 'ls']);
  t.match(refused, { code: 4, stderr: /needs a sign-in/ });
  const out = await run(['logout']);
  t.match(await run(['whoami']), { code: 4 });
  for (const { stdout, stderr } of [signedIn, me, refused, out]) t.notMatch(stdout + stderr, token);
});

t.test("a server's credential goes to no other server", async (t) => {
  const one = await theCommandOfAda(t);
  const other = await theCommandOfAda(t);
  const { run } = theCommand(t, null);
  await run(['login', '--server', one.server, '--with-token'], one.token);
  t.match(await run(['ls', '--server', other.server]), { code: 4 }, 'not signed in there');
  await run(['login', '--server', other.server, '--with-token', '--profile', 'second'], other.token);
  for (const [args, address] of [
    [[], other.server],
    [['--server', one.server], one.server],
    [['--profile', 'second'], other.server],
  ] as const) {
    const { stdout, stderr } = await run(['whoami', '-o', 'json', ...args]);
    t.match(JSON.parse(stdout || '{}'), { server: address }, stderr);
  }
  t.match(await run(['ls', '--profile', 'third']), { code: 2, stderr: /no profile "third"/ });
});

t.test('completion asks the server that the line names', async (t) => {
  const one = await theCommandOfAda(t);
  const other = await theCommandOfAda(t);
  for (const [{ service, ada }, name] of [
    [one, 'first'],
    [other, 'second'],
  ] as const)
    await as(service, ada)('POST', '/api/containers', { name });
  const { run, spawned } = theCommand(t, null);
  await run(['login', '--server', other.server, '--with-token', '--profile', 'work'], other.token);
  await run(['login', '--server', one.server, '--with-token'], one.token);
  const offered = async (...line: readonly string[]) =>
    (await spawned(['complete', '--', ...line, ''])).stdout;
  t.match(await offered('stop'), /^first\t/m);
  for (const given of [['--profile', 'work'], ['--profile=work'], ['--server', other.server]]) {
    t.match(await offered('stop', ...given), /^second\t/m, given.join(' '));
    t.match(await offered(...given, 'stop'), /^second\t/m, given.join(' '));
  }
});

t.test('a derived token reaches its container and nothing else', async (t) => {
  const { service, server, ada, run } = await theCommandOfAda(t);
  const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };
  for (const name of ['dev', 'other']) await as(service, ada)('POST', '/api/containers', { name, ...small });
  const made = await run('tokens derive job --container dev --expires 30m --uses 9'.split(' '));
  t.match(made, { code: 0, stdout: /^svc_[0-9a-f]{64}\n$/, stderr: /not shown again/ });
  const child = theCommand(t, server, made.stdout.trim());
  t.match(await child.run(['ls', '-o', 'name']), { code: 0, stdout: 'dev\n' });
  t.match(await child.run(['create', 'more']), { code: 1, stderr: /only for some containers/ });
  t.match(await run(['tokens', 'derive', 'x', '--uses', 'many']), { code: 2 });
  t.match(await run(['tokens', 'derive', 'x', '--container', 'none']), {
    code: 1,
    stderr: /containers must be/,
  });
  const listed = await theCommand(t, server, ada.token).run(['tokens', 'ls']);
  t.match(listed.stdout, /^ {2}job +svc_.* 1 container, \d uses left/m);
});

async function byCode(t: Test) {
  const service = await aServiceInTime();
  const address = await serverOf(t, service);
  const ada = await aPerson(service, 'ada');
  const command = theCommand(t, null);
  const file = path.join(command.home, 'config', 'berth', 'hosts.json');
  return { service, address, ada, ...command, file, call: as(service, ada) };
}

type Scene = Awaited<ReturnType<typeof byCode>>;

/** Starts to sign in; the answer decides about its code. */
async function logIn({ start, address, call, service }: Scene, decide: 'approve' | 'deny') {
  const login = start(['login', '--server', address]);
  const code = () => /^Code {2}(\S+)$/m.exec(login.stderr())?.[1];
  await waitFor(() => code() !== undefined);
  t.equal((await call('POST', `/api/auth/device/${decide}`, { user_code: code() })).statusCode, 200);
  service.clock.advance(2_000);
  return await login.ended;
}

t.test('a sign-in by a code is a session that renews itself, until it is signed out', async (t) => {
  const scene = await byCode(t);
  const { run, file, service, ada } = scene;
  const signedIn = await logIn(scene, 'approve');
  t.match(signedIn, { code: 0, stdout: '', stderr: /\/device\n[\s\S]*Signed in to .* as ada/ });
  t.match((await sessionsOf(service, ada))[0], { user_agent: /^berth\// });
  t.match(await run(['tokens', 'create', 'ci', '--scope', 'read', '--expires', '1d']), {
    stdout: /^svc_\w{64}\n$/,
  });
  const list = await run(['sessions', 'ls']);
  t.match(list, { code: 0, stdout: /this one/ });

  const saved = () => JSON.parse(readFileSync(file, 'utf8'));
  const hosts = saved();
  const name = hosts.current as string;
  const { token, refresh_token: spent } = hosts.profiles[name].credential;
  hosts.profiles[name].credential.expires_at = new Date(0).toISOString();
  writeFileSync(file, JSON.stringify(hosts));
  const combined = await Promise.all([1, 2, 3, 4].map(() => run(['whoami', '-o', 'name'])));
  for (const { code, stdout, stderr } of combined) t.same([code, stdout], [0, 'ada\n'], stderr);
  const renewed = saved().profiles[name].credential;
  t.not(renewed.refresh_token, spent);

  const out = await run(['logout']);
  t.match(await run(['whoami']), { code: 4 });
  t.match((await sessionsOf(service, ada))[0], { revoked_reason: 'logged_out' });
  for (const { stdout, stderr } of [signedIn, list, ...combined, out]) {
    for (const secret of [token, spent, renewed.token, renewed.refresh_token])
      t.notMatch(stdout + stderr, secret);
  }
});

t.test('a refused code signs nobody in', async (t) => {
  const scene = await byCode(t);
  t.match(await logIn(scene, 'deny'), { code: 1, stderr: /refused in the browser[\s\S]*berth login/ });
  t.match(await scene.run(['whoami']), { code: 4 });
});

t.test('a session that has ended elsewhere says so', async (t) => {
  const scene = await byCode(t);
  await logIn(scene, 'approve');
  t.equal((await scene.call('POST', '/api/sessions/revoke-others', {})).statusCode, 200);
  t.match(await scene.run(['ls']), { code: 4, stderr: /was revoked[\s\S]*berth login --server/ });
});
