import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { withFileLock } from '../../src/cli/profiles/file-lock.ts';
import { hostsFile } from '../../src/cli/profiles/hosts-file.ts';
import { systemKeyring } from '../../src/cli/profiles/keyring.ts';
import { sessionToken } from '../../src/cli/profiles/session-token.ts';
import { aFolder } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import { aDesktop, aKeptSession, aKeyring, onLinux } from '../support/service/desktop.ts';

for (const platform of ['linux', 'darwin'] as const) {
  t.test(`secrets go in and out by input alone: ${platform}`, async (t) => {
    const scene = aKeyring(t, platform);
    const keyring = systemKeyring(scene, platform);
    await keyring.check();
    t.same(scene.secrets(), [], 'the check leaves nothing');
    const secret = '{"token":"svc_\'$(x)\\" \n","more":"é"}';
    await keyring.write('an-id', 'Berth https://one:1', secret);
    t.equal(await systemKeyring(scene, platform).read('an-id'), secret, 'byte for byte');
    t.equal(await keyring.read('another'), null);
    await keyring.write('an-id', 'Berth https://one:1', 'newer');
    t.equal(await keyring.recall('an-id'), 'newer');
    const asked = scene.arguments();
    t.equal(await keyring.recall('an-id'), 'newer');
    t.equal(scene.arguments(), asked, 'what is known is not asked again');
    t.notMatch(asked, /svc_|c3ZjX|newer|bmV3ZXI/, 'no secret is an argument, in no form');
    scene.lock();
    await t.rejects(
      keyring.write('other', 'Berth', 'lost'),
      { code: 'no_keyring' },
      'what is not kept is said',
    );
  });
}

t.test('a system without a keyring refuses', async (t) => {
  await t.rejects(systemKeyring({ env: { PATH: '' } }, 'linux').check(), {
    message: /secret-tool could not be started/,
  });
  await t.rejects(systemKeyring({ env: {} }, 'win32').check(), { message: /no keyring of win32/ });
});

t.test('a sign-in in the keyring is in no file, stays there, and leaves with it', onLinux, async (t) => {
  const { run, keyring, token, logIn, saved, server } = await aDesktop(t);
  t.match(await logIn('--keyring'), { code: 0 });
  t.notMatch(saved(), token);
  const [first = ''] = keyring.secrets();
  const kept = { kind: 'keyring', of: 'api_token', id: first.replace('secret-', '') };
  t.match(JSON.parse(saved()).profiles[new URL(server).host].credential, kept, 'the file says where it is');
  t.match(await run(['whoami', '-o', 'name']), { code: 0, stdout: 'ada\n' });
  t.match(await run(['profiles', 'ls']), { stdout: /API token +in the keyring/ });

  t.match(await logIn(), { code: 0 });
  t.notMatch(saved(), token, 'to sign in again does not move it to the file');
  t.equal(keyring.secrets().length, 1, 'the older secret is removed');
  t.not(keyring.secrets()[0], first);
  t.match(await logIn('--no-keyring'), { code: 0 });
  t.match(saved(), token);
  t.same(keyring.secrets(), []);

  await logIn('--keyring');
  t.match(await run(['logout']), { code: 0 });
  t.same(keyring.secrets(), []);
  t.notMatch(keyring.arguments(), token);
});

t.test('a locked secret is not an absent one', onLinux, async (t) => {
  const scene = aKeyring(t, 'linux');
  const keyring = systemKeyring(scene, 'linux');
  await keyring.write('an-id', 'Berth', 'secret');
  scene.lock();
  await t.rejects(keyring.read('an-id'), { code: 'no_keyring', message: /locked/ });
  t.equal(await keyring.read('another'), null);
  await t.rejects(keyring.remove('an-id'), { code: 'no_keyring', message: /locked/ });
  scene.unlock();
  await keyring.remove('an-id');
  t.same(scene.secrets(), []);
});

t.test('a keyring that does not respond is not asked for ever', onLinux, async (t) => {
  const scene = aKeyring(t, 'linux');
  t.teardown(scene.respond);
  scene.wait();
  await t.rejects(systemKeyring(scene, 'linux').read('an-id', 50), {
    code: 'no_keyring',
    message: /did not respond/,
  });
});

t.test('a session in the keyring is renewed there', onLinux, async (t) => {
  const { run, keyring, saved, hosts, refresh_token } = await aKeptSession(t);
  for (const { code, stderr } of await Promise.all([1, 2, 3].map(() => run(['whoami']))))
    t.equal(code, 0, stderr);
  t.equal(saved(), hosts);
  const renewed = JSON.parse((await systemKeyring(keyring, 'linux').read('an-id')) ?? '{}');
  t.match(renewed, { kind: 'session', refresh_token: /./ });
  t.not(renewed.refresh_token, refresh_token);
  await systemKeyring(keyring, 'linux').remove('an-id');
  t.match(await run(['whoami']), { code: 4, stderr: /no longer in the keyring[\s\S]*berth login/ });
});

t.test('a session that a full keyring cannot keep is not renewed', onLinux, async (t) => {
  const { run, keyring, service } = await aKeptSession(t);
  const kept = () => systemKeyring(keyring, 'linux').read('an-id');
  const before = await kept();
  keyring.fill();
  t.match(await run(['whoami']), { code: 1, stderr: /No space left/ });
  t.equal(await kept(), before);
  keyring.empty();
  service.clock.advance(60_000);
  t.match(await run(['whoami']), { code: 0 });
  t.not(await kept(), before);
});

t.test('no other command waits while the user unlocks the keyring', onLinux, async (t) => {
  const { env, keyring, file, server } = await aKeptSession(t);
  t.teardown(keyring.respond);
  const hosts = hostsFile({ env });
  await hosts.keyring.recall('an-id');
  const asked = keyring.arguments().length;
  keyring.wait();
  const token = sessionToken(hosts, 'one', server);
  await waitFor(() => keyring.arguments().length > asked);
  t.notOk(existsSync(`${file}.lock`));
  keyring.respond();
  t.match(await token, /./);
});

t.test('a lock stays fresh while it is in use, and only its owner removes it', async (t) => {
  const lock = path.join(aFolder(t), 'lock');
  const age = () => Date.now() - statSync(lock).mtimeMs;
  await withFileLock(lock, async () => {
    utimesSync(lock, new Date(0), new Date(0));
    await waitFor(() => age() < 60_000);
  });
  t.notOk(existsSync(lock));
  await withFileLock(lock, async () => writeFileSync(lock, 'of another'));
  t.equal(readFileSync(lock, 'utf8'), 'of another');
});

t.test('a keyring that refuses keeps nothing in the file instead', onLinux, async (t) => {
  const { run, keyring, file, logIn } = await aDesktop(t);
  keyring.lock();
  t.match(await logIn('--keyring'), { code: 1, stderr: /locked collection[\s\S]*--no-keyring/ });
  t.notOk(existsSync(file));
  t.match(await run(['whoami']), { code: 4 });
});
