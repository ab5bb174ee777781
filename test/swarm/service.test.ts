import t from 'tap';
import { eventually } from '../support/patience.ts';
import { aContainerWithCanary, inside } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';
import { taskContainers } from '../support/swarm/task-containers.ts';
import { watchTasks } from '../support/swarm/task-witness.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const PATIENT = { patienceMs: 120_000, everyMs: 200 };
const cluster = swarmCluster();

t.setTimeout(900_000);
const set = await anInstallationIn(t, cluster);
if (set === null) throw new Error('this needs a database');
const witness = watchTasks(t, cluster);
const service = await startService(t, set.installation);
const token = await signInAdmin(service);
const call = client(service.address, token);
const { dbId } = await aContainerWithCanary(call, 'dev');
const url = `/api/containers/${dbId}`;
const status = async (): Promise<unknown> => (await call('GET', url)).body['status'];

t.test('the engine says what it is, and what it cannot do', async (t) => {
  const { parts } = (await call('GET', '/readyz')).body as { parts: Record<string, { status: string }> };
  t.match(parts['engine'], { status: 'ready', detail: /[Ss]warm/ });
  t.match((await call('GET', '/api/engine')).body, { keeps_layer: false, takes_snapshots: false });
});

t.test('a terminal runs an editor, which follows its size', async (t) => {
  const at = { address: service.address.replace('http', 'ws'), dbId, token };
  const shell = await terminalClient(at, { cols: 100, rows: 30 }, { origin: service.address });
  const type = (text: string): void => shell.socket.send(Buffer.from(text), { binary: true });
  const seen = (): string => shell.output().toString();
  type('stty size; echo one > letter; vi letter\r');
  await shell.until(() => /30 100/.test(seen()) && /"letter"/.test(seen()));
  shell.socket.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }));
  type('Gotwo\u001b:!stty size\r');
  await shell.until(() => seen().includes('40 120'));
  type('\r:wq\r');
  const written = (): Promise<unknown> => inside(call, dbId, 'cat /workspace/letter');
  t.equal(await eventually(written, (text) => text === 'one\ntwo\n', PATIENT), 'one\ntwo\n');
  shell.socket.close();
});

t.test('a stop and a start keep the files, also ten times at once', { timeout: 300_000 }, async (t) => {
  await inside(call, dbId, 'echo kept > canary');
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all([call('POST', `${url}/stop`), call('POST', `${url}/start`)]);
    for (const { status, body } of answers)
      t.ok([200, 202, 409].includes(status), `${status} ${JSON.stringify(body)}`);
  }
  const running = async (): Promise<unknown> => {
    const now = await status();
    if (now !== 'running') await call('POST', `${url}/start`);
    return now;
  };
  t.equal(await eventually(running, (now) => now === 'running', PATIENT), 'running', 'it is not stuck');
  t.equal(await inside(call, dbId, 'cat canary'), 'kept\n');
});

t.test('a deleted container is restored with its files', async (t) => {
  t.equal((await call('DELETE', url)).status, 200);
  t.same(await taskContainers(cluster, dbId), []);
  t.equal((await call('POST', `${url}/restore`)).status, 200);
  await call('POST', `${url}/start`);
  t.equal(await eventually(status, (now) => now === 'running', PATIENT), 'running');
  t.equal(await inside(call, dbId, 'cat canary'), 'kept\n');
});

t.test('never two tasks of one container', async (t) => {
  t.ok(witness.seen() > 0);
  t.same(witness.faults(), []);
});
