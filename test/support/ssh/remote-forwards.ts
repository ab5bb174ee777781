import { createServer } from 'node:net';
import path from 'node:path';
import type { Test } from 'tap';
import { portOf } from '../listen.ts';
import { waitFor } from '../patience.ts';
import { eventually, inside } from '../process/fault-scene.ts';
import { client, signInAdmin, startService } from '../process/running-service.ts';
import { anInnerSshd } from './inner-sshd.ts';
import { anSshAgent, type SshAgent } from './ssh-agent.ts';
import { type Ended, finish, type SshHome, type Started, sshHome, start } from './ssh-programs.ts';
import type { SshScene } from './ssh-scene.ts';

/** What listens in a container for a client: ports, sockets and the client's agent. */
export async function listensForClients(t: Test, scene: SshScene): Promise<void> {
  await ports(t, scene);
  await sockets(t, scene);
  await refusals(t, scene);
  await agents(t, scene);
  await revoked(t, scene);
}

/** A server of the user's machine, which answers what it was sent once all of it has come. */
async function aServer(t: Test): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let all = '';
    socket.on('error', () => {}).on('data', (chunk) => (all += chunk));
    socket.on('end', () => socket.end(`heard ${all}`));
  });
  return await portOf(t, server);
}

/** What a connection inside the container gets as the answer, to a port or a path. */
async function asked({ call, dbId }: SshScene, to: number | string, words = 'this'): Promise<unknown> {
  const socket =
    typeof to === 'number'
      ? `IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${to})`
      : `IO::Socket::UNIX->new(Peer => "${to}")`;
  const program = `my $s = ${socket} or exit print "none"; print $s "${words}"; $s->flush; shutdown $s, 1; print <$s>`;
  return await inside(call, dbId, `perl -MIO::Socket::INET -MIO::Socket::UNIX -e '${program}'`);
}

const forwarding = (t: Test, home: SshHome, args: readonly string[]): Started =>
  start(t, home, 'ssh', ['-N', '-o', 'ExitOnForwardFailure=yes', ...args, 'dev@berth']);

/** The listeners' folders in the container. */
const folders = ({ call, dbId }: SshScene): Promise<unknown> =>
  inside(call, dbId, 'ls -d /run/berth-ssh.* 2>/dev/null || echo none');

async function ports(t: Test, scene: SshScene): Promise<void> {
  const port = await aServer(t);
  const master = path.join(scene.home.folder, 'master');
  const forward = forwarding(t, scene.home, ['-M', '-S', master, '-R', `4000:127.0.0.1:${port}`]);
  t.equal(
    await eventually(
      () => asked(scene, 4000),
      (answer) => answer !== 'none',
    ),
    'heard this',
  );
  const many = await Promise.all(Array.from({ length: 8 }, (_, n) => asked(scene, 4000, `${n}`)));
  t.same(
    many,
    many.map((_, n) => `heard ${n}`),
    'several at the same time, each with its own end',
  );

  const control = (...args: string[]) => finish(t, scene.home, 'ssh', ['-S', master, ...args, 'dev@berth']);
  const { stdout } = await control('-O', 'forward', '-R', `0:127.0.0.1:${port}`);
  const free = Number(stdout);
  t.ok(free > 0, 'a free port is chosen');
  t.equal(await asked(scene, free), 'heard this');
  await control('-O', 'cancel', '-R', `4000:127.0.0.1:${port}`);
  await waitFor(async () => (await asked(scene, 4000)) === 'none');
  t.equal(await asked(scene, free), 'heard this', 'the others go on');
  await control('-O', 'exit');
  await forward.ended;
  await waitFor(async () => (await folders(scene)) === 'none\n', { what: 'the sockets are removed' });
  t.equal(await asked(scene, free), 'none');
}

async function sockets(t: Test, scene: SshScene): Promise<void> {
  const port = await aServer(t);
  const path = '/tmp/back.sock';
  await inside(scene.call, scene.dbId, LEAVE_LINK);
  const forward = forwarding(t, scene.home, ['-R', `${path}:127.0.0.1:${port}`]);
  t.equal(
    await eventually(
      () => asked(scene, path),
      (answer) => answer !== 'none',
    ),
    'heard this',
  );
  t.equal(await inside(scene.call, scene.dbId, `stat -c %a ${path}`), '600\n');
  const behind = await inside(
    scene.call,
    scene.dbId,
    'cat /workspace/behind/file; rm /run/berth-ssh.*.4194304',
  );
  t.equal(behind, 'kept\n', 'what is behind a link stays');
  forward.child.kill();
  await waitFor(async () => (await inside(scene.call, scene.dbId, `ls ${path} || echo gone`)) === 'gone\n');
}

/** A link with the name of a folder that a killed listener has left. */
const LEAVE_LINK = `mkdir -p /workspace/behind && echo kept > /workspace/behind/file
ln -s /workspace/behind /run/berth-ssh.$(id -u).4194304`;

async function refusals(t: Test, scene: SshScene): Promise<void> {
  const { call, dbId, home } = scene;
  const refused = async (address: string) => {
    const { code, stderr } = await forwarding(t, home, ['-R', `${address}:127.0.0.1:9`]).ended;
    return { code, isRefused: stderr.includes('remote port forwarding failed') };
  };
  t.same(await refused('192.0.2.1:4001'), { code: 255, isRefused: true }, 'an address of another host');
  await inside(call, dbId, HOLD_PORT);
  await waitFor(async () => (await asked(scene, 4002)) !== 'none');
  t.same(await refused('4002'), { code: 255, isRefused: true }, 'a port in use');
  const nowhere = forwarding(t, home, ['-R', '4003:127.0.0.1:9']);
  await waitFor(async () => (await asked(scene, 4003)) === '', {
    what: 'a connection that the client cannot pass on ends',
  });
  nowhere.child.kill();
  await nowhere.ended;
}

const HOLD_PORT = `perl -MIO::Socket::INET -e '
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 4002);
while (my $c = $s->accept) { print $c "mine"; close $c }' >/dev/null 2>&1 &`;

async function agents(t: Test, scene: SshScene): Promise<void> {
  const { call, dbId, home } = scene;
  const agent = await anSshAgent(t, home);
  const withAgent = (args: readonly string[], input?: string): Promise<Ended> =>
    finish(t, home, 'ssh', ['-A', '-o', `IdentityAgent=${agent.socket}`, ...args], input);
  t.match(await withAgent(['dev@berth', 'ssh-add -l']), { code: 0, stdout: /of-the-agent/ });
  const shell = await withAgent(['-tt', 'dev@berth'], 'ssh-add -l; exit\n');
  t.match(shell.stdout, /of-the-agent/, 'in a shell with a terminal');
  const none = await finish(t, home, 'ssh', ['dev@berth', 'echo "[$SSH_AUTH_SOCK]"']);
  t.equal(none.stdout, '[]\n', 'only when asked for');
  await waitFor(async () => (await folders(scene)) === 'none\n', { what: 'the socket ends with it' });
  await clones(t, scene, agent, withAgent);
  const recorded = async (action: string): Promise<string> => {
    const { body } = await call('GET', `/api/admin/audit?limit=100&action=${action}`);
    return (body as { records: { details: string }[] }).records.map(({ details }) => details).join();
  };
  t.match(await recorded('port_forwarded'), '"port":"remote 4000"');
  t.match(await recorded('ssh_agent_forwarded'), `"container_id":"${dbId}"`);
}

/** git inside the container, to a server that knows only a key of the user's agent. */
async function clones(
  t: Test,
  scene: SshScene,
  { publicKey }: SshAgent,
  withAgent: (args: readonly string[], input?: string) => Promise<Ended>,
): Promise<void> {
  const port = await anInnerSshd(t, scene, publicKey);
  const script = `set -e
export GIT_SSH_COMMAND='ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes'
rm -rf /tmp/copy
git clone -q ssh://git@127.0.0.1:${port}/tmp/git/first.git /tmp/copy
cd /tmp/copy
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
git push -q origin HEAD
git -c safe.directory=/tmp/git/first.git -C /tmp/git/first.git log --all --format=%s
`;
  t.match(await withAgent(['dev@berth', 'sh -s'], script), { code: 0, stdout: 'first\n' });
  const without = await finish(t, scene.home, 'ssh', ['dev@berth', 'sh -s'], script);
  t.match(without, { stderr: /Permission denied \(publickey/ }, 'not without the agent');
}

/** Listeners end with their key. */
async function revoked(t: Test, scene: SshScene): Promise<void> {
  const { call, port, knownHosts } = scene;
  const other = await sshHome(t, { port, knownHosts });
  const added = await call('POST', '/api/me/ssh-keys', { public_key: other.publicKey });
  const server = await aServer(t);
  const forward = forwarding(t, other, ['-R', `4005:127.0.0.1:${server}`]);
  await waitFor(async () => (await asked(scene, 4005)) === 'heard this');
  await call('DELETE', `/api/me/ssh-keys/${added.body['id']}`);
  t.match(await forward.ended, { code: 255 });
  await waitFor(async () => (await asked(scene, 4005)) === 'none');
  t.equal(await folders(scene), 'none\n');
}

/** A killed service leaves nothing that listens in its containers. Ends the service of the scene. */
export async function leavesNothingWhenKilled(t: Test, scene: SshScene): Promise<void> {
  const { installation, service, home, dbId } = scene;
  const server = await aServer(t);
  const forward = forwarding(t, home, [
    '-R',
    `4006:127.0.0.1:${server}`,
    '-R',
    `/tmp/left.sock:127.0.0.1:${server}`,
  ]);
  await waitFor(async () => (await asked(scene, '/tmp/left.sock')) === 'heard this');
  await service.stop('SIGKILL');
  await forward.ended;
  const next = await startService(t, installation);
  const call = client(next.address, await signInAdmin(next));
  const again = { ...scene, call };
  await waitFor(async () => (await asked(again, 4006)) === 'none');
  t.equal(await folders(again), 'none\n');
  t.equal(await inside(call, dbId, 'ls /tmp/left.sock || echo gone'), 'gone\n');
}
