import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { run } from '../../src/adapters/docker/host/host-commands.ts';
import { write } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';
import { waitFor } from '../support/patience.ts';
import { eventually, inside } from '../support/process/fault-scene.ts';
import { client } from '../support/process/running-service.ts';
import { theCommand } from '../support/service/command.ts';
import { leavesNothingWhenKilled, listensForClients } from '../support/ssh/remote-forwards.ts';
import { type Ended, finish, type SshHome, sshHome, start } from '../support/ssh/ssh-programs.ts';
import { anSshScene, type SshScene } from '../support/ssh/ssh-scene.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

/** A server in the container that answers what it was sent, once all of it has come. */
const ECHO_SERVER = `perl -MIO::Socket::INET -e '
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 3000, ReuseAddr => 1);
while (my $c = $s->accept) { local $/; my $all = <$c>; print $c "heard $all"; close $c }' >/dev/null 2>&1 &`;

t.test('the programs of OpenSSH work in a container', async (t) => {
  const scene = await anSshScene(t);
  if (scene === null) return;
  const ssh = (args: readonly string[], input?: string) => finish(t, scene.home, 'ssh', args, input);
  await commands(t, scene, ssh);
  await files(t, scene);
  await listensForClients(t, scene);
  await forwards(t, scene, ssh);
  await sharedScreen(t, scene);
  const { spawned: run } = theCommand(t, scene.address, scene.token);
  t.match(await run(['ssh', 'dev', '--', 'pwd; exit 5']), { code: 5, stdout: '/workspace\n' }, 'over HTTPS');
  await portForward(t, scene);
  await garbage(t, scene);
  await strangers(t, scene, ssh);
  await ends(t, scene, ssh);
  await leavesNothingWhenKilled(t, scene);
});

type Ssh = (args: readonly string[], input?: string) => Promise<Ended>;

async function commands(t: Test, { call }: SshScene, ssh: Ssh): Promise<void> {
  const script = 'cat; echo "$PWD $LC_TEST." >&2; exit 7';
  const sent = await ssh(['-o', 'SetEnv=LC_TEST=given LD_PRELOAD=no', 'dev@berth', script], 'typed\n');
  t.same(sent, { code: 7, stdout: 'typed\n', stderr: '/workspace given.\n' }, 'input ends, output is apart');
  const asked = await ssh(['-tt', 'dev@berth', 'stty size; tty; exit 3']);
  t.match(asked, { code: 3, stdout: /^\d+ \d+\r\n\/dev\/pts\// });
  t.match(await ssh(['-T', 'dev@berth'], 'echo $((6*7))\nexit 4\n'), { code: 4, stdout: '42\n' });
  const { stderr } = await ssh(['-v', 'dev@berth', 'true']);
  t.match(stderr, /kex: algorithm: (mlkem768x25519-sha256|curve25519-sha256(@libssh.org)?)\r?\n/);
  t.match(stderr, /kex: host key algorithm: ssh-ed25519\r?\n/);
  const ciphers = [...stderr.matchAll(/kex: \S+ cipher: (\S+)/g)].map(([, name]) => name);
  t.ok(
    ciphers.length === 2 &&
      ciphers.every((name) => /^(aes(128|256)-gcm|chacha20-poly1305)@/.test(name ?? '')),
  );
  const [key] = (await call('GET', '/api/me/ssh-keys')).body['ssh_keys'] as { last_used_at: string }[];
  t.type(key?.last_used_at, 'string');
}

async function files(t: Test, { home }: SshScene): Promise<void> {
  const [from, to] = [path.join(home.folder, 'from'), path.join(home.folder, 'to')];
  const bytes = randomBytes(5_000_000);
  writeFileSync(from, bytes);
  t.match(await finish(t, home, 'scp', ['-q', from, 'dev@berth:there']), { code: 0 });
  t.match(await finish(t, home, 'scp', ['-q', 'dev@berth:there', to]), { code: 0 });
  t.ok(readFileSync(to).equals(bytes));
  t.match(
    await finish(t, home, 'scp', ['-q', '-O', 'dev@berth:there', to]),
    { code: 0 },
    'by the old protocol',
  );
  t.ok(readFileSync(to).equals(bytes));
  const listed = await finish(
    t,
    home,
    'sftp',
    ['-b', '-', 'dev@berth'],
    'rename there here\nls -1 /workspace\n',
  );
  t.match(listed, { code: 0, stdout: /^\/workspace\/here$/m });
  await synchronizes(t, home);
}

/** rsync both ways: the second time it sends only what has changed. */
async function synchronizes(t: Test, home: SshHome): Promise<void> {
  const [from, to] = [path.join(home.folder, 'tree'), path.join(home.folder, 'again')];
  for (const name of ['a', 'deep/b', 'deep/er/c']) write(from, name, randomBytes(50_000).toString('base64'));
  const rsync = (...args: string[]) =>
    run('rsync', ['-a', '--stats', '-e', `ssh -F ${home.config}`, ...args]);
  t.match(await rsync(`${from}/`, 'dev@berth:tree/'), { code: 0 });
  t.match(await rsync('dev@berth:tree/', `${to}/`), { code: 0 });
  t.match(await run('diff', ['-r', from, to]), { code: 0, stdout: '' });
  const again = await rsync(`${from}/`, 'dev@berth:tree/');
  t.match(again.stdout, 'Number of regular files transferred: 0');
}

async function forwards(t: Test, { call, dbId }: SshScene, ssh: Ssh): Promise<void> {
  await inside(call, dbId, ECHO_SERVER);
  const heard = await eventually(
    () => ssh(['-W', 'localhost:3000', 'dev@berth'], 'this'),
    ({ stdout }) => stdout !== '',
  );
  t.match(heard, { code: 0, stdout: 'heard this' }, 'the end of the input is passed on, then the answer');
  t.match(await ssh(['-W', 'localhost:3001', 'dev@berth']), { stdout: '', stderr: /open failed/ });
  t.match(await ssh(['-W', '169.254.169.254:80', 'dev@berth']), { stdout: '', stderr: /open failed/ });
}

/** A terminal by SSH shows what the browser shows, and what is typed in either is in both. */
async function sharedScreen(t: Test, { address, dbId, token, call, home }: SshScene): Promise<void> {
  const at = { address: address.replace('http', 'ws'), dbId, token };
  const browser = await terminalClient(at, { cols: 90, rows: 25 }, { origin: address });
  browser.socket.send(Buffer.from('echo "=$((6*7))="\r'));
  await browser.until(() => browser.output().includes('=42='));
  const shell = start(t, home, 'ssh', ['-tt', 'dev@berth']);
  await waitFor(() => shell.stdout().includes('=42='));
  shell.child.stdin.write('echo "=$((7*7))= $(stty size)"\r');
  await browser.until(() => browser.output().includes('=49='));
  await waitFor(() => shell.stdout().includes('=49= 25 90'), { what: () => shell.stdout() });
  const { terminals } = (await call('GET', '/api/admin/terminals')).body as {
    terminals: { id: string; connection_id: string; client: string }[];
  };
  t.same(terminals.map(({ connection_id }) => connection_id.replace(/-.*/, '')).sort(), ['main', 'ssh']);
  const bySsh = terminals.find(({ client }) => client === 'ssh');
  await call('DELETE', `/api/admin/terminals/${bySsh?.id}`);
  const closed = await shell.ended;
  t.match(closed.stdout + closed.stderr, /an administrator closed this terminal/);
  await waitFor(async () => {
    const { body } = await call('GET', '/api/admin/terminals');
    return (body as { terminals: unknown[] }).terminals.length === 1;
  });
  browser.socket.send(Buffer.from('echo "=$((8*8))="\r'));
  await browser.until(() => browser.output().includes('=64='));
  browser.socket.terminate();
}

/** `berth port-forward` carries bytes both ways, and its port closes with it, however it is ended. */
async function portForward(t: Test, { address, token }: SshScene): Promise<void> {
  const local = await freePort();
  const forward = theCommand(t, address, token).start(['port-forward', 'dev', `${local}:3000`], 'open');
  const content = randomBytes(200_000).toString('hex');
  const heard = async (): Promise<string | null> => {
    const socket = connect({ port: local, host: '127.0.0.1', allowHalfOpen: true });
    const answer = text(socket).catch(() => null);
    socket.end(content);
    return await answer;
  };
  t.equal(await eventually(heard, Boolean), `heard ${content}`, forward.stderr());
  t.match(forward.stderr(), `http://127.0.0.1:${local} is port 3000 of dev.`);
  forward.kill('SIGTERM');
  await forward.ended;
  t.equal(await heard(), null, 'nothing listens any longer');
}

async function garbage(t: Test, { port }: SshScene): Promise<void> {
  for (const start of ['', 'SSH-2.0-fuzz\r\n', 'GET / HTTP/1.1\r\n\r\n']) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.write(Buffer.concat([Buffer.from(start), randomBytes(65_536)]));
    await once(socket, 'close');
  }
  t.pass('random bytes end their own connection');
}

/** Records of this action, newest first. */
async function recorded(call: SshScene['call'], action: string) {
  const { body } = await call('GET', '/api/admin/audit?limit=100');
  const { records } = body as { records: { action: string; details: string; user_id: string | null }[] };
  return records.filter((one) => one.action === action);
}

async function strangers(t: Test, { port, knownHosts, call, address }: SshScene, ssh: Ssh): Promise<void> {
  const audit = (action: string) => recorded(call, action);
  const home = await sshHome(t, { port, knownHosts });
  const stranger = (who: string) => finish(t, home, 'ssh', [`${who}@berth`, 'true']);
  const before = (await audit('login_failed')).length;
  const denied = { code: 255, stdout: '', stderr: /Permission denied \(publickey\)/ };
  const known = await stranger('dev');
  t.match(known, denied);
  t.equal(
    (await stranger('nothing')).stderr,
    known.stderr.replaceAll('dev@', 'nothing@'),
    'all names look alike',
  );
  await waitFor(async () => (await audit('login_failed')).length === before + 2);
  t.match((await audit('login_failed'))[0], { details: 'SSH key', user_id: null });

  await call('PATCH', '/api/admin/settings', { open_registration: true });
  const eve = { email: 'eve@example.org', username: 'eve', password: 'correct horse battery' };
  const { body } = await client(address)('POST', '/api/auth/register', eve);
  const { token, user } = body as { token: string; user: { id: string } };
  await client(address, token)('POST', '/api/me/ssh-keys', { public_key: home.publicKey });
  t.match(await stranger('dev'), { code: 1, stderr: 'no container "dev"; you have none\r\n' });
  t.match(await ssh(['other@berth', 'true']), { code: 1, stderr: 'no container "other"; yours: dev\r\n' });
  const wanted = (name: string) => ({ details: new RegExp(`"wanted":"${name}"`) });
  t.match(await audit('ssh_refused'), [wanted('other'), { ...wanted('dev'), user_id: user.id }]);

  await call('PATCH', `/api/admin/users/${user.id}`, { disabled: true });
  t.match(await stranger('dev'), denied);
  const refused = await audit('login_failed');
  t.equal(refused.length, before + 3);
  t.match(refused[0], { details: 'disabled', user_id: user.id });
}

/** Connections end with their key, and with their container. */
async function ends(t: Test, { home, call, dbId, knownHosts, port }: SshScene, ssh: Ssh): Promise<void> {
  const other = await sshHome(t, { port, knownHosts });
  const added = await call('POST', '/api/me/ssh-keys', { public_key: other.publicKey });
  const running = start(t, other, 'ssh', ['dev@berth', 'echo up; cat']);
  await waitFor(() => running.stdout() === 'up\n');
  await call('DELETE', `/api/me/ssh-keys/${added.body['id']}`);
  t.match(await running.ended, { code: 255 }, 'a removed key ends its connections');
  t.match(await inside(call, dbId, 'pgrep -x cat || echo none'), 'none\n', 'and their programs');
  const before = (await recorded(call, 'login_failed')).length;
  t.match(await finish(t, other, 'ssh', ['dev@berth', 'true']), { code: 255, stderr: /Permission denied/ });
  await waitFor(async () => (await recorded(call, 'login_failed')).length > before, { what: 'its record' });
  const kept = start(t, home, 'ssh', ['dev@berth', 'echo up; cat']);
  await waitFor(() => kept.stdout() === 'up\n');
  await call('POST', `/api/containers/${dbId}/stop`);
  t.not((await kept.ended).code, 0, 'a stop ends its connections');
  t.match(await ssh(['dev@berth', 'true']), { code: 255, stderr: 'dev is stopped: berth start dev\n' });
  await call('POST', `/api/containers/${dbId}/start`);
}
