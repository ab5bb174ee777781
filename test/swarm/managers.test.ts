import { randomUUID } from 'node:crypto';
import t from 'tap';
import { eventually, waitFor } from '../support/patience.ts';
import { aContainerWithCanary, type Call, inside } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { type NodeName, swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';
import { managersAre, promoteAll, restoreMembers } from '../support/swarm/node-changes.ts';
import { taskContainers } from '../support/swarm/task-containers.ts';
import { watchTasks } from '../support/swarm/task-witness.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const PATIENT = { patienceMs: 120_000, everyMs: 200 };
const cluster = swarmCluster();
const addressOf = (name: NodeName): string => {
  const { address } = cluster.nodes.find((node) => node.name === name) ?? {};
  return `tcp://${address}:2376`;
};

t.setTimeout(600_000);
t.teardown(() => restoreMembers(cluster));
await promoteAll(cluster);
const managers = [addressOf('n1'), addressOf('n2')].join();
const set = await anInstallationIn(t, cluster, { DOCKER_HOST: '', BERTH_SWARM_MANAGERS: managers });
if (set === null) throw new Error('this needs a database');
const { installation } = set;
const witness = watchTasks(t, cluster);
const service = await startService(t, installation);
const token = await signInAdmin(service);
const call = client(service.address, token);

const engineDetail = (ask: Call) => async (): Promise<string> => {
  const { parts } = (await ask('GET', '/readyz')).body as { parts?: { engine?: { detail: string } } };
  return parts?.engine?.detail ?? '';
};
const uses = (name: NodeName) =>
  waitFor(async () => (await engineDetail(call)()).includes(addressOf(name)), PATIENT);

/** A running container on `n3`, whose engine runs on all the time. */
async function onLast(): Promise<string> {
  for (let tries = 0; tries < 6; tries += 1) {
    const { dbId } = await aContainerWithCanary(call, `dev-${tries}`);
    if ((await taskContainers(cluster, dbId))[0]?.node === 'n3') return dbId;
  }
  throw new Error('no container is on n3');
}

const dbId = await onLast();
const url = `/api/containers/${dbId}`;
const last = { ...cluster, nodes: cluster.nodes.filter(({ name }) => name === 'n3') };
const ids = async (): Promise<readonly string[]> => (await taskContainers(last, dbId)).map(({ id }) => id);
const before = await ids();

await t.test('the engine of the manager in use stops: Berth goes on through the next one', async (t) => {
  await uses('n1');
  const at = { address: service.address.replace('http', 'ws'), dbId, token };
  const shell = await terminalClient(at, {}, { origin: service.address });
  const type = (text: string): void => shell.socket.send(Buffer.from(text), { binary: true });
  type('mine=kept; echo "its"-ready\r');
  await shell.until(() => shell.output().toString().includes('its-ready'));
  t.teardown(() => cluster.start('n1'));
  await cluster.stop('n1');
  type('echo "it is $mine"\r');
  await shell.until(() => shell.output().toString().includes('it is kept'));
  shell.socket.close();
  t.same(await ids(), before, 'the same container');
  await uses('n2');
  // The managers elect a leader, which first hears from the node.
  for (const act of ['stop', 'start']) {
    const attempt = async () => await call('POST', `${url}/${act}`);
    t.match(await eventually(attempt, ({ status }) => status === 200, PATIENT), { status: 200 }, act);
  }
  const create = async () => await aContainerWithCanary(call, `later-${randomUUID()}`).catch(() => null);
  t.ok(await eventually(create, (made) => made !== null, PATIENT), 'new ones are made');
  t.equal(await inside(call, dbId, 'cat canary'), 'kept\n');
  await cluster.start('n1');
  await managersAre(cluster.engineOf(), 3);
});

await t.test('the manager in use makes a Swarm of its own: Berth leaves it out', async (t) => {
  const now = await ids();
  await cluster.leave('n2');
  await cluster.found('n2');
  await uses('n1');
  t.match(service.output(), `the manager at ${addressOf('n2')} is left out`);
  t.same(await ids(), now, 'the same container');
  t.equal((await call('GET', url)).body['status'], 'running');
  t.equal(await inside(call, dbId, 'cat canary'), 'kept\n');
  t.match(await call('POST', `${url}/stop`), { status: 200 });
});

await t.test('no container is lost with only a manager of another Swarm', async (t) => {
  await service.stop();
  const env = { ...installation.env, BERTH_SWARM_MANAGERS: addressOf('n2') };
  const other = await startService(t, { ...installation, env });
  const ask = client(other.address, await signInAdmin(other));
  const detail = await eventually(engineDetail(ask), (seen) => seen.includes('another Swarm'), PATIENT);
  t.match(detail, /joined another Swarm/);
  t.equal((await ask('GET', url)).body['status'], 'stopped');
  t.match(await ask('POST', `${url}/start`), { status: 500 });
});

await t.test('at no moment ran a container twice', async (t) => {
  t.ok(witness.seen() > 0);
  t.same(witness.faults(), []);
});
