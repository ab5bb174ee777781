import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { waitFor } from '../support/patience.ts';
import { theCommand } from '../support/service/command.ts';
import { aServiceInTime } from '../support/service/factors.ts';
import { aPerson, as, sessionsOf } from '../support/service/service.ts';

async function aScene(t: Test) {
  const service = await aServiceInTime();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = await aPerson(service, 'ada');
  const command = theCommand(t, null);
  const file = path.join(command.home, 'config', 'berth', 'hosts.json');
  return { service, address, ada, ...command, file, call: as(service, ada) };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** Starts to sign in; the answer decides about its code. */
async function logIn({ start, address, call, service }: Scene, decide: 'approve' | 'deny') {
  const login = start(['login', '--server', address]);
  const code = () => /^Code {2}(\S+)$/m.exec(login.stderr())?.[1];
  await waitFor(() => code() !== undefined);
  const decided = await call('POST', `/api/auth/device/${decide}`, { user_code: code() });
  t.equal(decided.statusCode, 200);
  service.clock.advance(2_000);
  return await login.ended;
}

t.test('a sign-in by a code is a session that renews itself, until it is signed out', async (t) => {
  const scene = await aScene(t);
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
  const together = await Promise.all([1, 2, 3, 4].map(() => run(['whoami', '-o', 'name'])));
  for (const { code, stdout, stderr } of together) t.same([code, stdout], [0, 'ada\n'], stderr);
  const renewed = saved().profiles[name].credential;
  t.not(renewed.refresh_token, spent);

  const out = await run(['logout']);
  t.match(await run(['whoami']), { code: 4 });
  t.match((await sessionsOf(service, ada))[0], { revoked_reason: 'logged_out' });
  for (const { stdout, stderr } of [signedIn, list, ...together, out]) {
    for (const secret of [token, spent, renewed.token, renewed.refresh_token])
      t.notMatch(stdout + stderr, secret);
  }
});

t.test('a refused code signs nobody in', async (t) => {
  const scene = await aScene(t);
  t.match(await logIn(scene, 'deny'), { code: 1, stderr: /refused in the browser[\s\S]*berth login/ });
  t.match(await scene.run(['whoami']), { code: 4 });
});

t.test('a session that has ended elsewhere says so', async (t) => {
  const scene = await aScene(t);
  await logIn(scene, 'approve');
  t.equal((await scene.call('POST', '/api/sessions/revoke-others', {})).statusCode, 200);
  t.match(await scene.run(['ls']), { code: 4, stderr: /was revoked[\s\S]*berth login --server/ });
});
