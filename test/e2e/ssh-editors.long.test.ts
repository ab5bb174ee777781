import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { runOrThrow } from '../../src/adapters/docker/host/host-commands.ts';
import { write } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';
import { waitFor } from '../support/patience.ts';
import { rest, throughSocks } from '../support/ssh/socks.ts';
import { finish, type Started, start } from '../support/ssh/ssh-programs.ts';
import { anSshScene, type SshScene } from '../support/ssh/ssh-scene.ts';

const CHANNELS = 52;

t.test('what editors do over SSH', async (t) => {
  const scene = await anSshScene(t, { BERTH_SSH_CHANNELS: String(CHANNELS) });
  if (scene === null) return;
  await shareConnection(t, scene);
  await sessions(t, scene);
  const archive = await anEditor(t, scene);
  await likeVsCode(t, scene, archive);
  await likeJetBrains(t, scene, archive);
});

/** Fifty programs on one connection of OpenSSH, which says when it has no more. */
async function shareConnection(t: Test, { home }: SshScene): Promise<void> {
  const control = path.join(home.folder, 'master');
  const master = start(t, home, 'ssh', ['-N', '-M', '-S', control, 'dev@berth']);
  await waitFor(() => existsSync(control));
  const through = (command: string) => start(t, home, 'ssh', ['-S', control, 'dev@berth', command]);
  const programs = Array.from({ length: CHANNELS }, (_, n) => through(`echo ${n}; cat`));
  await waitFor(() => programs.every(({ stdout }, n) => stdout() === `${n}\n`), { patienceMs: 60_000 });
  const oneMore = start(t, home, 'ssh', ['-O', 'check', '-S', control, 'dev@berth']);
  t.match(await oneMore.ended, { code: 0 });
  const refused = start(t, home, 'ssh', ['-S', control, '-o', 'ProxyCommand=false', 'dev@berth', 'true']);
  t.match(await refused.ended, { code: 255, stderr: /Session open refused by peer/ });
  t.match(
    await finish(t, home, 'ssh', ['dev@berth', 'echo mine']),
    { stdout: 'mine\n' },
    'the user has others',
  );
  for (const { child } of programs) child.stdin.end();
  for (const { ended } of programs) t.match(await ended, { code: 0 });
  master.child.kill();
  await master.ended;
}

/** A terminal's session by its name, which two connections show. */
async function sessions(t: Test, { home }: SshScene): Promise<void> {
  const shell = (name: string): Started =>
    start(t, home, 'ssh', ['-tt', '-o', `SetEnv=BERTH_SESSION=${name}`, 'dev@berth']);
  const [first, second] = [shell('build'), shell('build')];
  first.child.stdin.write('echo "=$((6*7))=$(printenv BERTH_SESSION || echo none)="\r');
  await waitFor(() => first.stdout().includes('=42=none='), { what: first.stdout });
  await waitFor(() => second.stdout().includes('=42=none='), { what: 'both show the session' });
  second.child.stdin.write('exit\r');
  t.match([await first.ended, await second.ended], [{ code: 0 }, { code: 0 }]);
  t.match(await shell('../x').ended, { code: 255, stderr: /BERTH_SESSION takes 1 to 32 letters/ });
}

/** A server that answers each connection once all of its input has come. Two first lines make it do something else. */
const SERVER = `use strict; use IO::Socket::INET; use IO::Socket::UNIX; use IO::Select;
my $port = IO::Socket::INET->new(Listen => 64, LocalAddr => "127.0.0.1", ReuseAddr => 1);
my $path = IO::Socket::UNIX->new(Listen => 64, Local => "/tmp/editor.sock");
$| = 1; print "listeningOn==", $port->sockport, "==\\n";
$SIG{CHLD} = "IGNORE";
my $all = IO::Select->new($port, $path);
while (my @ready = $all->can_read) { for (@ready) {
  my $c = $_->accept or next;
  next if fork;
  close $port; close $path;
  local $/ = "\\n"; my $first = <$c>;
  if ($first eq "close first\\n") { shutdown $c, 1; my $got = <$c>; open my $f, ">", "/tmp/got"; print $f $got; close $f; exit }
  if ($first eq "die\\n") { kill "KILL", getppid; exit }
  local $/; print $c "heard $first", <$c>; exit
} }
`;

/** The editor's server as its installation comes: an archive. */
async function anEditor(t: Test, { home }: SshScene): Promise<string> {
  write(home.folder, 'editor/server.pl', SERVER);
  const archive = path.join(home.folder, 'editor.tar.gz');
  await runOrThrow('tar', ['-czf', archive, '-C', home.folder, 'editor']);
  t.ok(existsSync(archive));
  return archive;
}

/** VS Code: a script on the input of a shell, which stays; then all through a dynamic forward of that connection. */
async function likeVsCode(t: Test, { home }: SshScene, archive: string): Promise<void> {
  t.match(await finish(t, home, 'scp', ['-q', archive, 'dev@berth:.editor.tgz']), { code: 0 });
  const socksPort = await freePort();
  const shell = start(t, home, 'ssh', [
    '-T',
    '-D',
    `${socksPort}`,
    '-o',
    'ConnectTimeout=15',
    'dev@berth',
    'bash',
  ]);
  shell.child.stdin.write(
    'mkdir -p ~/.editor && tar -xzf ~/.editor.tgz -C ~/.editor && exec perl ~/.editor/editor/server.pl\n',
  );
  const announced = () => /listeningOn==(\d+)==/.exec(shell.stdout())?.[1];
  await waitFor(announced);
  const port = Number(announced());
  const to = async (where: number, host = '127.0.0.1') => await throughSocks(socksPort, host, where);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const socket = await to(port);
      socket?.end(`${n}\n`);
      return socket === null ? 'refused' : await rest(socket);
    }),
  );
  t.same(
    answers,
    answers.map((_, n) => `heard ${n}\n`),
    'thirty streams at the same time',
  );
  t.equal(await to(1), null, 'nothing listens there');
  t.equal(await to(80, '169.254.169.254'), null, 'another host');

  const half = await to(port);
  half?.write('close first\n');
  t.equal(half && (await rest(half)), '', 'its end comes while the other direction is open');
  half?.end('then this\n');
  const got = async () => (await finish(t, home, 'ssh', ['dev@berth', 'cat /tmp/got'])).stdout;
  await waitFor(async () => (await got()) === 'then this\n');

  const kept = await to(port);
  kept?.write('kept\n');
  const killer = await to(port);
  killer?.end('die\n');
  t.equal(killer && (await rest(killer)), '');
  t.equal(await to(port), null, 'its listener has gone');
  kept?.end();
  t.equal(kept && (await rest(kept)), 'heard kept\n', 'a connection that was open goes on');
  t.match(await shell.ended, { code: 137 });
}

/** JetBrains: commands, SFTP, and forwards to a port and to a socket. */
async function likeJetBrains(t: Test, { home }: SshScene, archive: string): Promise<void> {
  const control = path.join(home.folder, 'gateway');
  const master = start(t, home, 'ssh', ['-N', '-M', '-S', control, 'dev@berth']);
  await waitFor(() => existsSync(control));
  const ssh = (...args: string[]) => finish(t, home, 'ssh', ['-S', control, ...args]);
  t.match(await ssh('dev@berth', 'uname -sm'), { code: 0, stdout: /^Linux / });
  const batch = `mkdir ide\nput ${archive} ide/a.tgz\nchmod 700 ide/a.tgz\nls -l ide\n`;
  const sent = await finish(t, home, 'sftp', ['-o', `ControlPath=${control}`, '-b', '-', 'dev@berth'], batch);
  t.match(sent, { code: 0, stdout: /-rwx------ .*a\.tgz/ });
  const install = 'rm -f /tmp/editor.sock; cd ide && tar -xzf a.tgz && exec perl editor/server.pl';
  const server = start(t, home, 'ssh', ['-S', control, 'dev@berth', install]);
  await waitFor(() => server.stdout().includes('listeningOn'));
  const port = /==(\d+)==/.exec(server.stdout())?.[1];
  const [local, socket] = [await freePort(), path.join(home.folder, 'editor.sock')];
  await ssh(
    '-O',
    'forward',
    '-L',
    `${local}:localhost:${port}`,
    '-L',
    `${socket}:/tmp/editor.sock`,
    'dev@berth',
  );
  for (const at of [{ port: local, host: '127.0.0.1' }, { path: socket }]) {
    const client = connect({ ...at, allowHalfOpen: true });
    client.end('hello\n');
    t.equal(await rest(client), 'heard hello\n');
  }
  master.child.kill();
  await server.ended;
}
