import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import t from 'tap';
import { engineCalls } from '../../src/adapters/docker/engine/engine-client.ts';
import { bridgeName, chainName, INSTANCE_LABEL } from '../../src/adapters/docker/engine/engine-names.ts';
import { onHostOf } from '../../src/adapters/swarm/network/node-host.ts';
import { aContainerWithCanary } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';
import { restoreMembers } from '../support/swarm/node-changes.ts';

/** Keeps the base image for other tests, and for a look at the nodes. */
const KEPT = { repo: 'kept', tag: '1' };
const cluster = swarmCluster();
const [repo = '', tag = ''] = cluster.image.split(':');

t.setTimeout(600_000);
const engines = cluster.nodes.map(({ name }) => cluster.engineOf(name));
for (const engine of engines) await engine.getImage(cluster.image).tag(KEPT);
t.teardown(async () => {
  for (const engine of engines) await engine.getImage('kept:1').tag({ repo, tag });
});

/** An installation that has left these containers, and does not run. The containers do. */
async function withContainers(names: readonly string[]) {
  const set = await anInstallationIn(t, cluster);
  if (set === null) throw new Error('this needs a database');
  const service = await startService(t, set.installation);
  const call = client(service.address, await signInAdmin(service));
  for (const name of names) await aContainerWithCanary(call, name);
  await call('POST', `/api/containers/${(await aContainerWithCanary(call, 'stopped')).dbId}/stop`);
  await service.stop();
  return set;
}

const first = await withContainers(['one', 'two', 'three']);
const second = await withContainers(['another']);
type Set = typeof first;

const uninstall = ({ installation }: Set, ...words: readonly string[]) =>
  spawnSync(process.execPath, ['dist/app/main/bin/berth.js', 'uninstall', '--yes', ...words], {
    env: { ...process.env, ...installation.env },
    encoding: 'utf8',
  });

const nodesWithImage = async (): Promise<number> => {
  const found = engines.map((engine) =>
    engine.listImages({ filters: JSON.stringify({ reference: [cluster.image] }) }),
  );
  return (await Promise.all(found)).filter(({ length }) => length > 0).length;
};

/** Nodes with what other installations left there, such as those of earlier tests. */
async function nodesOfOthers({ instance }: Set): Promise<number> {
  const filters = { label: [INSTANCE_LABEL] };
  const text = JSON.stringify(filters);
  const ofNodes = engines.map(async (engine) => [
    ...(await engine.listContainers({ all: true, filters })),
    ...((await engine.listVolumes({ filters: text as never })).Volumes ?? []),
    ...(await engine.listNetworks({ filters })),
  ]);
  const isOthers = ({ Labels }: { Labels?: Record<string, string> | null | undefined }): boolean =>
    Labels?.[INSTANCE_LABEL] !== instance;
  return (await Promise.all(ofNodes)).filter((found) => found.some(isOthers)).length;
}

/** What the Swarm, its nodes and this machine have of an installation. */
async function left({ instance, installation }: Set): Promise<readonly string[]> {
  const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
  const text = JSON.stringify(filters);
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
  const ofMachine = existsSync(installation.dataDir) ? ['data folder'] : [];
  return [...ofSwarm, ...(await Promise.all(ofNodes)).flat(), ...ofMachine];
}

await t.test('a node that is away is waited for, and nothing is removed before', async (t) => {
  // The Swarm removes the containers of ended tasks in its own time.
  const lasting = async () => (await left(first)).filter((each) => !each.startsWith('container ')).toSorted();
  const before = await lasting();
  t.ok(before.includes('rules') && before.includes('bridge'), before.join());
  await cluster.partition('n3');
  t.match(uninstall(first), { status: /[^0]/, stderr: /node n3 \(\w+\) cannot be used/ });
  await cluster.heal('n3');
  t.same(await lasting(), before);
});

await t.test('uninstalling leaves nothing but the base image, which another one uses', async (t) => {
  t.match(uninstall(first), {
    status: 0,
    stdout:
      /volumes \(\d+\) in the Swarm \w+ at \S+, on all nodes[\s\S]*is uninstalled[\s\S]*The base image stays on all nodes: another/,
  });
  t.same(await left(first), []);
  t.equal(await nodesWithImage(), engines.length);
});

await t.test('the machines are in a new Swarm: the old one is forgotten by its id', async (t) => {
  const { ID: old } = (await cluster.engineOf().swarmInspect()) as { ID: string };
  for (const { name } of cluster.nodes.toReversed()) await cluster.leave(name);
  await cluster.found('n1');
  await restoreMembers(cluster);
  const { status, stderr } = uninstall(second);
  t.not(status, 0);
  t.match(stderr, `repeat with --forget-engine ${old}`);
  t.ok((await left(second)).includes('rules'));
  t.match(uninstall(second, '--forget-engine', old), { status: 0, stdout: /is uninstalled/ });
  t.same(await left(second), []);
  t.equal(await nodesWithImage(), await nodesOfOthers(second));
});
