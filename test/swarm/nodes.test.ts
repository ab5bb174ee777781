import t from 'tap';
import { eventually, waitForValue } from '../support/patience.ts';
import { aContainerWithCanary, inside } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { type NodeName, swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';
import { taskContainers } from '../support/swarm/task-containers.ts';
import { watchTasks } from '../support/swarm/task-witness.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

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
type Listed = {
  readonly ID: string;
  readonly Version: { readonly Index: number };
  readonly Spec: object;
  readonly Description: { readonly Hostname: string };
  readonly Status: { readonly State: string };
};
const isBack = (name: NodeName) => async (): Promise<boolean> =>
  ((await cluster.engineOf().listNodes()) as Listed[])
    .filter(({ Status }) => Status.State === 'ready')
    .some(({ Description }) => Description.Hostname === name);

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
    await waitForValue(isBack(node), Boolean, PATIENT);
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

await t.test('a drained node: its containers stop, and are refused until it is back', async (t) => {
  const engine = cluster.engineOf();
  const available = async (Availability: string): Promise<void> => {
    const listed = (await engine.listNodes()) as Listed[];
    const found = listed.find(({ Description }) => Description.Hostname === node);
    const { ID = '', Version, Spec } = found ?? {};
    await engine.getNode(ID).update({ version: Version?.Index, ...Spec, Availability } as never);
  };
  await available('drain');
  const status = async (): Promise<unknown> => (await call('GET', url)).body['status'];
  t.equal(await eventually(status, (seen) => seen === 'stopped', PATIENT), 'stopped');
  t.match(await call('POST', `${url}/start`), { status: 503, body: { code: 'node_in_maintenance' } });
  const { dbId: other } = await aContainerWithCanary(call, 'meanwhile');
  t.not((await taskContainers(cluster, other))[0]?.node, node);
  await available('active');
  // Berth asks for the nodes once a second.
  const start = async (): Promise<number> => (await call('POST', `${url}/start`)).status;
  t.equal(await eventually(start, (seen) => seen === 200, PATIENT), 200);
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
