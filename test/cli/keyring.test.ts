import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { systemKeyring } from '../../src/cli/profiles/keyring.ts';
import { aFolder } from '../support/folder.ts';
import { theCommand, theCommandOfAda } from '../support/service/command.ts';

/** Ends as `secret-tool` does: 1 without a word where there is no such secret, 1 with words where it fails. */
const SECRET_TOOL = `#!/bin/sh
echo "$*" >> "$KEYRING/arguments"
[ ! -e "$KEYRING/locked" ] || { echo 'secret-tool: Cannot create an item in a locked collection' >&2; exit 1; }
for id; do :; done
case $1 in
  store) cat > "$KEYRING/secret-$id" ;;
  lookup) cat "$KEYRING/secret-$id" 2> /dev/null || exit 1 ;;
  clear) rm -f "$KEYRING/secret-$id" ;;
esac
`;

/** Ends as `security` does: 44 where there is no such secret, and 0 after each command of its input. */
const SECURITY = `#!/bin/sh
echo "$*" >> "$KEYRING/arguments"
case $1 in
  -i) read -r line
    set -- $(echo "$line" | sed 's/"[^"]*"/label/')
    [ "$1 $2 $3 $4 $5" = "add-generic-password -U -s berth -a" ] || exit 2
    [ -e "$KEYRING/locked" ] || printf '%s\\n' "\${10}" > "$KEYRING/secret-$6" ;;
  find-generic-password) cat "$KEYRING/secret-$5" 2> /dev/null || exit 44 ;;
  delete-generic-password) rm "$KEYRING/secret-$5" 2> /dev/null || exit 44 ;;
esac
`;

const PROGRAMS = { linux: ['secret-tool', SECRET_TOOL], darwin: ['security', SECURITY] } as const;

/** A folder of secrets, and the program of that system for it first in the path. */
function aKeyring(t: Test, platform: keyof typeof PROGRAMS) {
  const folder = aFolder(t);
  const [name, script] = PROGRAMS[platform];
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, name), script);
  chmodSync(path.join(bin, name), 0o755);
  return {
    env: { PATH: `${bin}:${process.env['PATH']}`, KEYRING: folder },
    secrets: () => readdirSync(folder).filter((file) => file.startsWith('secret-')),
    arguments: () => readFileSync(path.join(folder, 'arguments'), 'utf8'),
    lock: () => writeFileSync(path.join(folder, 'locked'), ''),
  };
}

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

/** Ada with an API token, and the command in a home with such a keyring. */
async function aDesktop(t: Test) {
  const { server, token, service, ada } = await theCommandOfAda(t);
  const keyring = aKeyring(t, 'linux');
  const { env, home, run } = theCommand(t, null);
  Object.assign(env, keyring.env);
  const file = path.join(home, 'config', 'berth', 'hosts.json');
  const logIn = (...flags: readonly string[]) =>
    run(['login', '--server', server, '--with-token', ...flags], `${token}\n`);
  return { server, token, service, ada, keyring, run, file, logIn, saved: () => readFileSync(file, 'utf8') };
}

const onLinux = process.platform === 'linux' ? {} : { skip: 'the programs are those of Linux' };

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

t.test('a session in the keyring is renewed there', onLinux, async (t) => {
  const { run, keyring, file, saved, server, ada } = await aDesktop(t);
  const refresh_token = ada.cookie;
  const expired = { kind: 'session', token: ada.token, expires_at: new Date(0).toISOString(), refresh_token };
  await systemKeyring(keyring, 'linux').write('an-id', 'Berth', JSON.stringify(expired));
  mkdirSync(path.dirname(file), { recursive: true });
  const credential = { kind: 'keyring', id: 'an-id', of: 'session' };
  const hosts = JSON.stringify({
    current: 'one',
    profiles: { one: { server, username: 'ada', credential } },
  });
  writeFileSync(file, hosts);
  for (const { code, stderr } of await Promise.all([1, 2, 3].map(() => run(['whoami']))))
    t.equal(code, 0, stderr);
  t.equal(saved(), hosts);
  const renewed = JSON.parse((await systemKeyring(keyring, 'linux').read('an-id')) ?? '{}');
  t.match(renewed, { kind: 'session', refresh_token: /./ });
  t.not(renewed.refresh_token, refresh_token);
  await systemKeyring(keyring, 'linux').remove('an-id');
  t.match(await run(['whoami']), { code: 4, stderr: /berth login/ });
});

t.test('a keyring that refuses keeps nothing in the file instead', onLinux, async (t) => {
  const { run, keyring, file, logIn } = await aDesktop(t);
  keyring.lock();
  t.match(await logIn('--keyring'), { code: 1, stderr: /locked collection[\s\S]*--no-keyring/ });
  t.notOk(existsSync(file));
  t.match(await run(['whoami']), { code: 4 });
});
