import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runProcess } from '../support/child.ts';
import { aFolder } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import { inside } from '../support/process/fault-scene.ts';
import { client, register, sharedService } from '../support/process/running-service.ts';
import { sha256, terminalClient } from '../support/terminal/terminal-client.ts';

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
