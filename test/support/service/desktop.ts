import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { systemKeyring } from '../../../src/cli/profiles/keyring.ts';
import { aFolder } from '../folder.ts';
import { theCommand, theCommandOfAda } from './command.ts';

export const onLinux = process.platform === 'linux' ? {} : { skip: 'the programs are those of Linux' };

/**
 * Ends as `secret-tool` does: 1 without a word where it finds no such secret, or may not unlock it. An entry is replaced
 * at once. While full, it keeps nothing. While locked, `clear` removes nothing and ends with 0, and `search` shows that there is one. `waiting`: for
 * the user to unlock it.
 */
const SECRET_TOOL = `#!/bin/sh
echo "$*" >> "$KEYRING/arguments"
while [ -e "$KEYRING/waiting" ]; do sleep 0.02; done
for id; do :; done
if [ -e "$KEYRING/locked" ]; then
  case $1 in
    store) echo 'secret-tool: Cannot create an item in a locked collection' >&2; exit 1 ;;
    lookup) exit 1 ;;
    clear) exit 0 ;;
  esac
fi
if [ -e "$KEYRING/full" ] && [ "$1" = store ]; then
  echo 'secret-tool: No space left on device' >&2; exit 1
fi
case $1 in
  store) cat > "$KEYRING/draft-$$" && mv "$KEYRING/draft-$$" "$KEYRING/secret-$id" ;;
  lookup) cat "$KEYRING/secret-$id" 2> /dev/null || exit 1 ;;
  clear) rm -f "$KEYRING/secret-$id" ;;
  search) [ ! -e "$KEYRING/secret-$id" ] || echo '[/1]' ;;
esac
`;

/** Ends as `security` does: 44 where there is no such secret, and 0 after each command of its input. */
const SECURITY = `#!/bin/sh
echo "$*" >> "$KEYRING/arguments"
case $1 in
  -i) read -r line
    set -- $(echo "$line" | sed 's/"[^"]*"/label/')
    [ "$1 $2 $3 $4 $5" = "add-generic-password -U -s berth -a" ] || exit 2
    [ -e "$KEYRING/locked" ] || { printf '%s\\n' "\${10}" > "$KEYRING/draft-$$" && mv "$KEYRING/draft-$$" "$KEYRING/secret-$6"; } ;;
  find-generic-password) cat "$KEYRING/secret-$5" 2> /dev/null || exit 44 ;;
  delete-generic-password) rm "$KEYRING/secret-$5" 2> /dev/null || exit 44 ;;
esac
`;

const PROGRAMS = { linux: ['secret-tool', SECRET_TOOL], darwin: ['security', SECURITY] } as const;

/** A folder of secrets, and the program of that system for it first in the path. */
export function aKeyring(t: Test, platform: keyof typeof PROGRAMS) {
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
    fill: () => writeFileSync(path.join(folder, 'full'), ''),
    empty: () => rmSync(path.join(folder, 'full')),
    unlock: () => rmSync(path.join(folder, 'locked')),
    wait: () => writeFileSync(path.join(folder, 'waiting'), ''),
    respond: () => rmSync(path.join(folder, 'waiting'), { force: true }),
  };
}

/** Ada with an API token, and the command in a home with such a keyring. */
export async function aDesktop(t: Test) {
  const { server, token, service, ada } = await theCommandOfAda(t);
  const keyring = aKeyring(t, 'linux');
  const { env, home, run } = theCommand(t, null);
  Object.assign(env, keyring.env);
  const file = path.join(home, 'config', 'berth', 'hosts.json');
  const logIn = (...flags: readonly string[]) =>
    run(['login', '--server', server, '--with-token', ...flags], `${token}\n`);
  return {
    server,
    token,
    service,
    ada,
    keyring,
    env,
    run,
    file,
    logIn,
    saved: () => readFileSync(file, 'utf8'),
  };
}

/** Ada's session in the keyring. Unless `expiresAt` says otherwise, its login token has expired. */
export async function aKeptSession(t: Test, expiresAt = new Date(0)) {
  const desktop = await aDesktop(t);
  const { keyring, file, server, ada } = desktop;
  const refresh_token = ada.cookie;
  const session = { kind: 'session', token: ada.token, expires_at: expiresAt.toISOString(), refresh_token };
  await systemKeyring(keyring, 'linux').write('an-id', 'Berth', JSON.stringify(session));
  mkdirSync(path.dirname(file), { recursive: true });
  const credential = { kind: 'keyring', id: 'an-id', of: 'session' };
  const hosts = JSON.stringify({
    current: 'one',
    profiles: { one: { server, username: 'ada', credential } },
  });
  writeFileSync(file, hosts);
  return { ...desktop, hosts, refresh_token };
}
