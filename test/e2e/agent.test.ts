import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { Client, ClientChannel, SFTPWrapper } from 'ssh2';
import t, { type Test } from 'tap';
import { isThere, runProcess } from '../support/child.ts';
import { aFolder } from '../support/folder.ts';
import { portOf } from '../support/listen.ts';
import { waitFor } from '../support/patience.ts';
import { inside } from '../support/process/fault-scene.ts';
import { client, register, sharedService } from '../support/process/running-service.ts';
import { sshOverWebSocket } from '../support/ssh/ssh-client.ts';
import { sftpServer } from '../support/ssh/ssh-programs.ts';
import { sha256, terminalClient } from '../support/terminal/terminal-client.ts';

type Done<T> = (error: Error | null | undefined, value: T) => void;

const service = await sharedService(t);
if (service !== null)
  t.test('a machine becomes an agent by the archive and a code, and its shell outlives a stop', async (t) => {
    const { address } = service;
    const { token } = await register(service);
    const call = client(address, token);
    const folder = aFolder(t);
    const download = async (name: string) =>
      Buffer.from(await (await fetch(`${address}/agent/${name}`)).arrayBuffer());
    const archive = await download('berth-agent.tar.gz');
    t.match(String(await download('berth-agent.tar.gz.sha256')), sha256(archive));
    writeFileSync(path.join(folder, 'agent.tar.gz'), archive);
    execFileSync('tar', ['-xzf', 'agent.tar.gz'], { cwd: folder });
    const modules = path.join(folder, 'berth-agent', 'node_modules', '@lydell');
    t.match(readdirSync(modules), ['node-pty', /^node-pty-linux-/]);
    const { body } = await call('POST', '/api/agents/enrolments');
    const agent = (script: string) =>
      runProcess(t, 'env', [
        ...[`HOME=${folder}`, `XDG_STATE_HOME=${folder}`],
        ...['sh', '-c', script, process.execPath, path.join(folder, 'berth-agent', 'agent.mjs'), address],
      ]);
    const enrolling = agent(`printf '%s\n' ${body['code']} | "$0" "$1" enrol --server "$2" --name shop`);
    t.equal(await enrolling.ended, 0, enrolling.errors());
    const running = agent('exec "$0" "$1" --server "$2"');
    const found = async () =>
      (await call('GET', '/api/containers')).body['containers'] as { id: string; status: string }[];
    const isRunning = async () => (await found())[0]?.status === 'running';
    await waitFor(isRunning, { what: running.errors });
    const id = (await found())[0]?.id ?? '';
    t.equal(await inside(call, id, 'pwd'), `${folder}\n`);
    await overSsh(t, address, id, token, folder);
    const at = { address: address.replace('http', 'ws'), token, dbId: id };
    const first = await terminalClient(at, {}, { origin: address });
    first.socket.send(Buffer.from('X=kept; echo "it is $X"\r'));
    await first.until(() => first.output().includes('it is kept'));
    await call('POST', `/api/containers/${id}/stop`);
    await waitFor(isRunning, { what: 'it comes back by itself' });
    const second = await terminalClient(at, {}, { origin: address });
    second.socket.send(Buffer.from('echo "and $X"\r'));
    await second.until(() => second.output().includes('and kept'));
    t.equal((await call('DELETE', `/api/containers/${id}`)).status, 200);
    t.equal(await running.ended, 76, 'forgotten');
    for (const name of readdirSync(modules))
      if (name !== 'node-pty') rmSync(path.join(modules, name), { recursive: true });
    const elsewhere = agent('exec "$0" "$1" --server "$2"');
    t.equal(await elsewhere.ended, 78);
    t.match(elsewhere.errors(), /does not run on .*: .*It needs Linux with glibc on x64 or arm64/);
  });

/** A command with a terminal, whose size changes and which its channel ends; files, and forwards both ways. */
async function overSsh(t: Test, address: string, id: string, token: string, home: string): Promise<void> {
  const ssh = await sshOverWebSocket(address, id, { token });
  const run = (command: string) =>
    new Promise<ClientChannel>((resolve, reject) =>
      ssh.exec(command, { pty: { cols: 90, rows: 20 } }, (error, channel) =>
        error ? reject(error) : resolve(channel),
      ),
    );
  const sized = await run('stty size; read line; stty size; exit 3');
  let shown = '';
  sized.on('data', (chunk: Buffer) => {
    shown += chunk;
  });
  const ended = once(sized, 'exit');
  await waitFor(() => shown.includes('20 90'));
  sized.setWindow(40, 120, 0, 0);
  sized.write('on\n');
  t.equal((await ended)[0], 3);
  t.match(shown, /40 120/);
  const left = await run('echo "pid=$$."; exec sleep 1000');
  const [pid] = await once(left, 'data');
  left.close();
  const number = Number(/pid=(\d+)\./.exec(String(pid))?.[1]);
  await waitFor(() => !isThere(number), { what: 'a closed channel ends its command' });
  await filesOverSsh(t, ssh, home);
  await forwardsOverSsh(t, ssh);
  ssh.end();
}

async function filesOverSsh(t: Test, ssh: Client, home: string): Promise<void> {
  await sftpServer();
  const sftp = await promisify(ssh.sftp.bind(ssh) as (done: Done<SFTPWrapper>) => void)();
  const content = randomBytes(300_000);
  await promisify(sftp.writeFile.bind(sftp) as (path: string, data: Buffer, done: Done<void>) => void)(
    path.join(home, 'sent'),
    content,
  );
  t.ok(readFileSync(path.join(home, 'sent')).equals(content), 'sftp writes on the machine');
  const read = await promisify(sftp.readFile.bind(sftp) as (path: string, done: Done<Buffer>) => void)(
    path.join(home, 'sent'),
  );
  t.ok(read.equals(content), 'and reads');
  sftp.end();
}

/** To a port of the machine, and from one. */
async function forwardsOverSsh(t: Test, ssh: Client): Promise<void> {
  const echo = createServer((socket) => socket.pipe(socket));
  const port = await portOf(t, echo);
  const said = async (stream: Duplex, text: string): Promise<string> => {
    stream.write(text);
    const [answer] = await once(stream, 'data');
    stream.destroy();
    return String(answer);
  };
  const out = await new Promise<Duplex>((resolve, reject) =>
    ssh.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, stream) =>
      error ? reject(error) : resolve(stream),
    ),
  );
  t.equal(await said(out, 'to the machine'), 'to the machine');
  ssh.on('tcp connection', (_details, accept) => {
    const stream = accept();
    stream.pipe(stream);
  });
  const bound = await new Promise<number>((resolve, reject) =>
    ssh.forwardIn('127.0.0.1', 0, (error, at) => (error ? reject(error) : resolve(at))),
  );
  t.equal(await said(connect(bound, '127.0.0.1'), 'from the machine'), 'from the machine');
}
