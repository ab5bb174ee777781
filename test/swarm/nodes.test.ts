import t from 'tap';
import { eventually, waitForValue } from '../support/patience.ts';
import { aContainerWithCanary, inside, small } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';
import { changeNode, isReady } from '../support/swarm/node-changes.ts';
import { taskContainers } from '../support/swarm/task-containers.ts';
import { watchTasks } from '../support/swarm/task-witness.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const MIB = 1024 * 1024;
const PATIENT = { patienceMs: 120_000, everyMs: 500 };
/** Berth makes a node's network again every five minutes. */
const REPAIRED = { patienceMs: 400_000, everyMs: 2_000 };
/** A Swarm with the usual heartbeat takes a node for lost after a third of it. */
const CUT_OFF_MS = 45_000;
const cluster = swarmCluster();

t.setTimeout(1_500_000);
const set = await anInstallationIn(t, cluster);
if (set === null) throw new Error('this needs a database');
const witness = watchTasks(t, cluster);
const service = await startService(t, set.installation);
const token = await signInAdmin(service);
const call = client(service.address, token);
const at = { address: service.address.replace('http', 'ws'), token };

/** A running container on a node that is not the manager. */
async function onWorker() {
  for (let tries = 0; tries < 6; tries += 1) {
    const { dbId } = await aContainerWithCanary(call, `dev-${tries}`);
    const [task] = await taskContainers(cluster, dbId);
    if (task !== undefined && task.node !== 'n1') return { dbId, node: task.node };
  }
  throw new Error('every container is on the manager');
}

/** The time is what is tested: how long a node was silent. */
async function cutOff(): Promise<void> {
  const beganMs = performance.now();
  await waitForValue(
    () => performance.now() - beganMs,
    (ms) => ms > CUT_OFF_MS,
    PATIENT,
  );
}

const { dbId, node } = await onWorker();
const url = `/api/containers/${dbId}`;
const ids = async (): Promise<readonly string[]> => (await taskContainers(cluster, dbId)).map(({ id }) => id);

await t.test(
  'a node cut off for 45 s, and told to stop and start: it runs once, and nothing is lost',
  async (t) => {
    const before = await ids();
    await inside(call, dbId, 'echo kept > canary; sync');
    await cluster.partition(node);
    const asked = await call('POST', `${url}/exec`, { command: ['true'] });
    t.match([asked.status, asked.body['code']], [503, 'container_unresponsive']);
    const [start, stop] = await Promise.all([call('POST', `${url}/start`), call('POST', `${url}/stop`)]);
    t.ok(start.status < 500 || start.status === 503, JSON.stringify(start));
    t.ok(stop.status === 202 || stop.status === 503, JSON.stringify(stop));
    await t.resolves(aContainerWithCanary(call, 'elsewhere'), 'the other nodes work');
    // A lost node is one that was silent for so long.
    await cutOff();
    t.same(await ids(), before, 'it runs on');
    await cluster.heal(node);
    await waitForValue(() => isReady(cluster.engineOf(), node), Boolean, PATIENT);
    const canary = async (): Promise<unknown> => {
      await call('POST', `${url}/start`);
      return await inside(call, dbId, 'cat canary');
    };
    t.equal(await eventually(canary, (seen) => seen === 'kept\n', PATIENT), 'kept\n');
  },
);

await t.test('a node cut off for 45 s: the same container, the same shell', async (t) => {
  const before = await ids();
  const query = { connection_id: 'short' };
  const shell = await terminalClient({ ...at, dbId }, query, { origin: service.address });
  shell.socket.send(Buffer.from('mine=kept; echo "its"-ready\r'), { binary: true });
  await shell.until(() => shell.output().toString().includes('its-ready'));
  await cluster.partition(node);
  await cutOff();
  await cluster.heal(node);
  const answers = async (): Promise<boolean> => (await inside(call, dbId, 'echo yes')) === 'yes\n';
  t.ok(await eventually(answers, Boolean, PATIENT));
  t.same(await ids(), before, 'the same container');
  const again = await terminalClient({ ...at, dbId }, query, { origin: service.address });
  again.socket.send(Buffer.from('echo "it is $mine"\r'), { binary: true });
  await again.until(() => again.output().toString().includes('it is kept'));
  again.socket.close();
});

await t.test(
  'a killed engine: its containers start again with their files',
  { timeout: 600_000 },
  async (t) => {
    await inside(call, dbId, 'echo again > canary; sync');
    await cluster.kill(node);
    const asked = await call('POST', `${url}/exec`, { command: ['true'] });
    t.equal(asked.status, 503, JSON.stringify(asked.body));
    cluster.forgetNetworks(node);
    await cluster.start(node);
    const canary = async (): Promise<unknown> => {
      await call('POST', `${url}/start`);
      return await inside(call, dbId, 'cat canary');
    };
    t.equal(await eventually(canary, (seen) => seen === 'again\n', REPAIRED), 'again\n');
  },
);

const status = async (): Promise<unknown> => (await call('GET', url)).body['status'];
const change = (memory_mb: number) => call('PATCH', url, { ...small, name: 'changed', memory_mb });
const memory = async (): Promise<number | undefined> => {
  const [task] = await taskContainers(cluster, dbId);
  return (await task?.engine.getContainer(task.id).inspect())?.HostConfig.Memory;
};
const becomes = (availability: 'active' | 'pause' | 'drain') =>
  changeNode(cluster.engineOf(), node, { Availability: availability });

await t.test('a paused node: its container runs on, with the limits that it had', async (t) => {
  const before = await ids();
  await becomes('pause');
  t.match(await change(320), { status: 503, body: { code: 'node_in_maintenance' } });
  t.same(await ids(), before, 'it was not stopped for it');
  t.equal(await memory(), small.memory_mb * MIB);
});

await t.test('a drained node: its containers stop, and start when it is back', async (t) => {
  await becomes('drain');
  t.equal(await eventually(status, (seen) => seen === 'stopped', PATIENT), 'stopped');
  t.match(await call('POST', `${url}/start`), { status: 503, body: { code: 'node_in_maintenance' } });
  t.match(await change(384), { status: 200, body: { restarted: false } });
  t.equal(await status(), 'stopped');
  const { dbId: other } = await aContainerWithCanary(call, 'meanwhile');
  t.not((await taskContainers(cluster, other))[0]?.node, node);
  await becomes('active');
  const start = async (): Promise<number> => (await call('POST', `${url}/start`)).status;
  t.equal(await eventually(start, (seen) => seen === 200, PATIENT), 200);
  t.equal(await inside(call, dbId, 'cat canary'), 'again\n');
  t.equal(await memory(), 384 * MIB, 'with the limits that it got meanwhile');
});

await t.test('a deleted container is restored once its node answers again', async (t) => {
  t.equal((await call('DELETE', url)).status, 200);
  await cluster.partition(node);
  const refused = await call('POST', `${url}/restore`);
  await cluster.heal(node);
  t.match(refused, { status: 503, body: { code: 'container_unresponsive' } });
  const restore = async (): Promise<number> => (await call('POST', `${url}/restore`)).status;
  t.equal(await eventually(restore, (seen) => seen === 200, PATIENT), 200);
  t.equal((await call('POST', `${url}/start`)).status, 200);
  t.equal(await inside(call, dbId, 'cat canary'), 'again\n');
});

await t.test('a killed manager loses nothing: Berth waits for it', async (t) => {
  await cluster.kill('n1');
  const stopped = call('POST', `${url}/stop`);
  await cluster.start('n1');
  await stopped;
  const canary = async (): Promise<unknown> => {
    await call('POST', `${url}/start`);
    return await inside(call, dbId, 'cat canary');
  };
  t.equal(await eventually(canary, (seen) => seen === 'again\n', PATIENT), 'again\n');
});

await t.test('at no moment ran a container twice', async (t) => {
  t.ok(witness.seen() > 0);
  t.same(witness.faults(), []);
});
