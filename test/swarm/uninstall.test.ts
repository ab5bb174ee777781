import { spawnSync } from 'node:child_process';
import t from 'tap';
import { engineCalls } from '../../src/adapters/docker/engine/engine-client.ts';
import { bridgeName, chainName, INSTANCE_LABEL } from '../../src/adapters/docker/engine/engine-names.ts';
import { onHostOf } from '../../src/adapters/swarm/network/node-host.ts';
import { aContainerWithCanary } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';

/** Keeps the base image for other tests, and for a look at the nodes. */
const KEPT = { repo: 'kept', tag: '1' };
const cluster = swarmCluster();
const [repo = '', tag = ''] = cluster.image.split(':');

t.setTimeout(600_000);
const set = await anInstallationIn(t, cluster);
if (set === null) throw new Error('this needs a database');
const { installation, instance } = set;
const engines = cluster.nodes.map(({ name }) => cluster.engineOf(name));
for (const engine of engines) await engine.getImage(cluster.image).tag(KEPT);
t.teardown(async () => {
  for (const engine of engines) await engine.getImage('kept:1').tag({ repo, tag });
});
const uninstall = () =>
  spawnSync(process.execPath, ['dist/app/main/bin/berth.js', 'uninstall', '--yes'], {
    env: { ...process.env, ...installation.env },
    encoding: 'utf8',
  });
const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
const text = JSON.stringify(filters);

/** What the Swarm and its nodes have of the installation. */
async function left(): Promise<readonly string[]> {
  const manager = cluster.engineOf();
  const ofSwarm = [
    ...(await manager.listServices({ filters })).map(({ ID }) => `service ${ID}`),
    ...(await manager.listConfigs({ filters: text as never })).map(({ ID }) => `config ${ID}`),
  ];
  const ofNodes = engines.map(async (engine) => {
    const order = { calls: engineCalls(engine), instanceId: 'a-look', image: 'kept:1' };
    const seen = await onHostOf(order, async (run) => [
      (await run('iptables-save', [])).stdout,
      (await run('ip', ['link'])).stdout,
    ]);
    const [rules = '', links = ''] = seen;
    return [
      ...(await engine.listContainers({ all: true, filters })).map(({ Names }) => `container ${Names}`),
      ...((await engine.listVolumes({ filters: text as never })).Volumes ?? []).map(({ Name }) => Name),
      ...(await engine.listNetworks({ filters })).map(({ Name }) => `network ${Name}`),
      ...(rules.includes(chainName(instance)) ? ['rules'] : []),
      ...(links.includes(bridgeName(instance)) ? ['bridge'] : []),
    ];
  });
  return [...ofSwarm, ...(await Promise.all(ofNodes)).flat()];
}

const service = await startService(t, installation);
const call = client(service.address, await signInAdmin(service));
for (const name of ['one', 'two', 'three']) await aContainerWithCanary(call, name);
await call('POST', `/api/containers/${(await aContainerWithCanary(call, 'stopped')).dbId}/stop`);
await service.stop();

await t.test('a node that is away is waited for, and nothing is removed before', async (t) => {
  // The Swarm removes the containers of ended tasks in its own time.
  const lasting = async () => (await left()).filter((each) => !each.startsWith('container ')).toSorted();
  const before = await lasting();
  t.ok(before.includes('rules') && before.includes('bridge'), before.join());
  await cluster.partition('n3');
  t.match(uninstall(), { status: /[^0]/, stderr: /node n3 \(\w+\) cannot be used/ });
  await cluster.heal('n3');
  t.same(await lasting(), before);
});

await t.test('uninstalling leaves nothing in the Swarm', async (t) => {
  t.match(uninstall(), {
    status: 0,
    stdout: /volumes \(\d+\) in the Swarm, on all nodes[\s\S]*is uninstalled/,
  });
  t.same(await left(), []);
});
