import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { systemKeyring } from '../../src/cli/profiles/keyring.ts';
import { theCommand } from '../support/service/command.ts';
import { aDesktop, aKeptSession, onLinux } from '../support/service/desktop.ts';
import { statusOf } from '../support/service/service.ts';

type Desktop = Pick<Awaited<ReturnType<typeof aDesktop>>, 'run' | 'keyring' | 'saved'>;

async function signsOutOnlyWhenUnlocked(t: Test, { run, keyring, saved }: Desktop) {
  const before = saved();
  keyring.lock();
  t.match(await run(['whoami']), { code: 1, stderr: /locked/ });
  const refused = await run(['logout']);
  t.match(refused, { code: 1, stderr: /locked[\s\S]*berth logout --no-keyring/ });
  t.notMatch(refused.stderr, /Signed out/);
  t.equal(saved(), before);
  t.equal(keyring.secrets().length, 1);
  keyring.unlock();
  t.match(await run(['logout']), { code: 0, stderr: /Signed out/ });
  t.same(keyring.secrets(), []);
}

t.test('an API token in a locked keyring stays, and its profile too', onLinux, async (t) => {
  const desktop = await aDesktop(t);
  await desktop.logIn('--keyring');
  await signsOutOnlyWhenUnlocked(t, desktop);
});

t.test('a session in a locked keyring is ended once it is unlocked', onLinux, async (t) => {
  const desktop = await aKeptSession(t, new Date(Date.now() + 3_600_000));
  await signsOutOnlyWhenUnlocked(t, desktop);
  t.equal(await statusOf(desktop.service, desktop.ada), 401);
});

t.test('a service that refuses to end a session is not passed over', async (t) => {
  const server = createServer((_request, response) => response.writeHead(403).end('{}')).listen(
    0,
    '127.0.0.1',
  );
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { home, run } = theCommand(t, null);
  const folder = path.join(home, 'config', 'berth');
  mkdirSync(folder, { recursive: true });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const credential = { kind: 'session', token: 'a', expires_at, refresh_token: 'b' };
  const profiles = { one: { server: address, username: 'ada', credential } };
  writeFileSync(path.join(folder, 'hosts.json'), JSON.stringify({ current: 'one', profiles }));
  t.match(await run(['logout']), {
    code: 0,
    stderr: /did not end the session[\s\S]*berth sessions revoke[\s\S]*Removed/,
  });
});

t.test('a sign-in can be removed without its keyring', onLinux, async (t) => {
  const { run, keyring, saved } = await aKeptSession(t);
  keyring.lock();
  const asked = keyring.arguments();
  const out = await run(['logout', '--no-keyring']);
  t.match(out, { code: 0, stderr: /still in the keyring[\s\S]*berth sessions revoke/ });
  t.notMatch(out.stderr, /Signed out/);
  t.same(JSON.parse(saved()).profiles, {});
  t.equal(keyring.arguments(), asked);
});

t.test('a session whose secret is no longer in the keyring is not called ended', onLinux, async (t) => {
  const { run, keyring, saved } = await aKeptSession(t);
  await systemKeyring(keyring, 'linux').remove('an-id');
  t.match(await run(['logout']), { code: 0, stderr: /no longer in the keyring[\s\S]*berth sessions revoke/ });
  t.same(JSON.parse(saved()).profiles, {});
});
