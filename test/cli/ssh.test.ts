import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { writeTo } from '../../src/cli/io/streams.ts';
import { runHere, theCommand, theCommandOfAda } from '../support/service/command.ts';
import { sshPrograms } from '../support/ssh/ssh-programs.ts';

async function aScene(t: Test) {
  const command = await theCommandOfAda(t);
  await command.run(['create', 'dev']);
  return command;
}

t.test('berth ssh runs the ssh of this machine, and ends with its exit code', async (t) => {
  await sshPrograms();
  const { run, spawned } = await aScene(t);
  // The engine in memory has no shell.
  t.match(await spawned(['ssh', 'dev', '--', 'anything']), { code: 127, stderr: /not found/ });
  t.match(await run(['ssh', 'dve']), { code: 1, stderr: /Did you mean dev/ });
  t.match(await run(['port-forward', 'dev', '70000']), { code: 2, stderr: /not a port/ });
  await run(['stop', 'dev']);
  t.match(
    await spawned(['ssh', '--stdio', 'dev.berth']),
    { code: 1, stderr: /berth start/ },
    'a refusal has words',
  );
});

t.test('ssh connects as the profile that was given, whatever the variables say', async (t) => {
  await sshPrograms();
  const { server, token } = await aScene(t);
  const { run, spawned } = theCommand(t, 'http://127.0.0.1:9', 'svc_of_another');
  await run(['login', '--server', server, '--with-token', '--profile', 'ada'], token);
  const ran = await spawned(['ssh', 'dev', '--profile', 'ada', '--', 'anything']);
  t.match(ran, { code: 127, stderr: /not found/ });
});

t.test('berth ssh --stdio ends with words when its input cannot be read on', async (t) => {
  const { env } = await aScene(t);
  async function* broken() {
    yield Buffer.from('SSH-2.0-test\r\n');
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  }
  const ran = await runHere(env, ['ssh', '--stdio', 'dev'], Readable.from(broken()));
  t.match(ran, { code: 1, stderr: /Could not read the rest of standard input.*EIO/ });
});

t.test('output to a stream that has closed fails, and is not waited for', async (t) => {
  const closed = new PassThrough();
  closed.destroy();
  await t.rejects(writeTo(closed as unknown as NodeJS.WriteStream, 'lost'), { code: 'ERR_STREAM_DESTROYED' });
});

t.test('config-ssh adds one line to the settings of SSH, and removes it again', async (t) => {
  const { run, home, token } = await aScene(t);
  const main = path.join(home, '.ssh', 'config');
  const own = path.join(home, '.ssh', 'berth');
  const mine = 'Host old\n  Port 23\n';
  mkdirSync(path.dirname(main));
  writeFileSync(main, mine);
  t.match(await run(['config-ssh']), { code: 2, stderr: /--yes/ });
  t.equal(read(main), mine, 'nothing is written unasked');
  t.match(await run(['config-ssh', '--yes']), { code: 0 });
  const written = () => [main, path.join(own, 'config'), path.join(own, 'known_hosts')].map(read);
  const first = written();
  const [settings, hosts = '', keys] = first;
  t.equal(settings, `Include berth/config\n\n${mine}`);
  t.match(hosts, /^Host dev\.berth \*\.berth\n {2}ProxyCommand .* 'ssh' '--stdio' /m);
  t.notOk(hosts.includes(token), 'the token stays where it is');
  t.match(hosts, /StrictHostKeyChecking yes/);
  t.match(keys, /^berth_127\.0\.0\.1_\d+ ssh-ed25519 .*\nberth_\S+ ssh-rsa /);
  t.match(await run(['config-ssh']), { code: 0 }, 'a second time it need not ask');
  t.same(written(), first);
  t.match(await run(['config-ssh', '--remove']), { code: 0 });
  t.same([read(main), existsSync(own)], [mine, false]);
});

t.test('the settings of SSH have the files of a home whose path has spaces and marks', async (t) => {
  await sshPrograms();
  const { env, home } = await aScene(t);
  const odd = path.join(home, 'a home of 100%d');
  mkdirSync(path.join(odd, 'dotfiles'), { recursive: true });
  mkdirSync(path.join(odd, '.ssh'));
  const mine = path.join(odd, 'dotfiles', 'ssh_config');
  writeFileSync(mine, 'Host old\n');
  const main = path.join(odd, '.ssh', 'config');
  symlinkSync('../dotfiles/ssh_config', main);
  const input = Readable.from([]);
  t.match(await runHere({ ...env, HOME: odd }, ['config-ssh', '--yes'], input), { code: 0 });
  t.equal(read(mine), 'Include berth/config\n\nHost old\n', 'a link of the settings stays one');
  t.ok(lstatSync(main).isSymbolicLink());
  const own = path.join(odd, '.ssh', 'berth');
  const { stdout } = await promisify(execFile)('ssh', ['-G', '-F', path.join(own, 'config'), 'dev.berth']);
  t.match(stdout, `\nuserknownhostsfile ${path.join(own, 'known_hosts')}\n`);
});

const read = (file: string): string => readFileSync(file, 'utf8');
