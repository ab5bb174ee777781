import t, { type Test } from 'tap';
import { dockerAt, engineCalls } from '../../../src/adapters/docker/engine/engine-client.ts';
import { BASE_REFERENCE } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { urlOf as engineUrlOf } from '../../../src/adapters/swarm/client/node-address.ts';
import { swarmHealth } from '../../../src/adapters/swarm/insight/swarm-health.ts';
import { onHostOf } from '../../../src/adapters/swarm/network/node-host.ts';
import { aSpec } from '../../support/engine/container.ts';
import { waitForValue } from '../../support/patience.ts';
import { runtimeOn, type StandIn, standInSwarm } from '../../support/swarm/stand-in.ts';

const IMAGE = 'registry.example/box:1';
const TOOLS = 'registry.example/tools:1';
const [FIRST, SECOND] = ['n1n1n1n1n1n1n1n1n1n1n1n1n', 'n2n2n2n2n2n2n2n2n2n2n2n2n'];

const nodeTwo = (ID: string, State = 'ready') => ({
  ID,
  Version: { Index: 1 },
  Spec: { Availability: 'active' as const },
  Status: { State, Addr: '203.0.113.2' },
  Description: {
    Hostname: 'two',
    Platform: { Architecture: 'x86_64' },
    Resources: { NanoCPUs: 4e9, MemoryBytes: 4e9 },
  },
});

function runtimeAt(
  one: StandIn,
  { url: template }: StandIn,
  toolsImage: string | null,
  byNode: Readonly<Record<string, string>> = { [FIRST]: one.url },
) {
  const patience = { startSeconds: 10, endSeconds: 10 };
  return runtimeOn(one, { toolsImage, addresses: { template, byNode, certPath: null }, patience });
}

/** A swarm of two nodes: the larger one is the manager. */
async function scene(t: Test, toolsImage: string | null = null) {
  const [one, two] = [await standInSwarm(t, FIRST), await standInSwarm(t, SECOND)];
  one.otherNodes.push(nodeTwo(SECOND));
  /** As a process that starts now. */
  const open = (other = two) => runtimeAt(one, other, toolsImage);
  return { one, two, open, runtime: open(), spec: aSpec(IMAGE) };
}

const nodeOf = (configs: ReadonlyMap<string, { readonly Labels?: Readonly<Record<string, string>> }>) =>
  [...configs.values()].map(({ Labels }) => Labels?.['berth.node']);

t.test('a volume whose record was removed is found, and no second one is made', async (t) => {
  const { one, two, runtime, open, spec } = await scene(t);
  // Its first container is on the second node, as the first has no image.
  one.behaviour.missingImage = IMAGE;
  await runtime.create(spec);
  one.behaviour.missingImage = null;
  t.same([one.volumes.size, two.volumes.size], [0, 1]);

  one.configs.clear();
  await runtime.create({ ...spec, generation: 2 });
  t.same(nodeOf(one.configs), [SECOND], 'by the service');

  one.configs.clear();
  one.services.clear();
  t.equal(await open().volumeExists(spec.volume), true);
  await open().create({ ...spec, generation: 3 });
  t.same(nodeOf(one.configs), [SECOND], 'by the engine of its node');
  t.same([one.volumes.size, two.volumes.size], [0, 1]);
});

t.test('while a silent node may have the volume, it is neither made nor taken for removed', async (t) => {
  const { one, open, spec } = await scene(t);
  one.otherNodes.splice(0, 1, nodeTwo(SECOND, 'down'));
  await t.rejects(open().create({ ...spec, generation: 2 }), { code: 'container_unresponsive' });
  await t.rejects(open().removeVolume(spec.volume), { code: 'container_unresponsive' });
  await t.rejects(open().volumeExists(spec.volume), { code: 'container_unresponsive' });
  t.same([one.volumes.size, one.configs.size], [0, 0]);
  await open().create(spec);
  t.equal(one.volumes.size, 1, 'the first container of a row waits for no node');
});

t.test('a volume is found on the machine that is another node now', async (t) => {
  const { one, two, runtime, open, spec } = await scene(t);
  one.behaviour.missingImage = IMAGE;
  const handle = await runtime.create(spec);
  one.behaviour.missingImage = null;

  const again = await standInSwarm(t, 'n3n3n3n3n3n3n3n3n3n3n3n3n');
  for (const [name, volume] of two.volumes) again.volumes.set(name, volume);
  one.otherNodes.splice(0, 1, nodeTwo('n3n3n3n3n3n3n3n3n3n3n3n3n'));
  const now = open(again);
  t.match(await now.observe(handle), { kind: 'gone' });
  t.match(await now.list(), [{ state: 'stopped', isSilent: undefined }]);
  await now.create({ ...spec, generation: 2 });
  t.same(nodeOf(one.configs), ['n3n3n3n3n3n3n3n3n3n3n3n3n']);
  await now.remove(handle);
  await now.remove((await now.find(spec.dbId, 2)) ?? handle);
  await now.removeVolume(spec.volume);
  t.equal(again.volumes.size, 0, 'a removal is one of the data, too');
});

t.test('what is stopped keeps its volume in use, by a container that never starts', async (t) => {
  const { one, runtime, spec } = await scene(t);
  const handle = await runtime.create(spec);
  const holders = () => one.containers.filter(({ State }) => State === 'created');
  t.match(holders(), [{ Labels: { 'berth.holds': spec.volume } }]);
  one.containers.splice(0);
  await runtime.start(handle);
  await runtime.stop(handle, 1);
  t.equal(holders().length, 1, 'a start makes the one that was removed');
  await runtime.remove(handle);
  t.equal(holders().length, 0);
});

t.test('no container starts on a node without its rules', async (t) => {
  const { one, two, runtime, spec } = await scene(t, TOOLS);
  const handle = await runtime.create(spec);
  const rules = () => one.execs.filter((input) => input.includes('*filter')).length;
  const rejoin = async () => {
    one.behaviour.joins += 1;
    await waitForValue(
      async () => (await runtime.swarm.nodes.list())[0]?.Version?.Index,
      (index) => index === one.behaviour.joins,
    );
  };
  const before = rules();
  t.not(before, 0);
  await runtime.start(handle);
  t.equal(rules(), before, 'they are there');
  await runtime.stop(handle, 1);
  await rejoin();
  await runtime.start(handle);
  t.equal(rules(), 2 * before, 'its engine was restarted');
  await runtime.stop(handle, 1);

  one.behaviour.missingImage = TOOLS;
  await rejoin();
  await t.rejects(runtime.start(handle), { name: 'RuntimeFailure', message: /packet filter of node one/ });
  t.equal(one.tasks.filter(({ Status }) => Status.State === 'running').length, 0);
  // A new container goes to the next node.
  await runtime.create(aSpec(IMAGE));
  t.same(nodeOf(one.configs), [FIRST, SECOND]);
  t.match(two.execs.join('\n'), /-d 203\.0\.113\.2 -j DROP/, 'public addresses of nodes are closed');
});

t.test('work on a node is done by its own engine, whichever manager answers for the swarm', async (t) => {
  const { one, spec } = await scene(t);
  // Behind the address of the manager may be another one tomorrow.
  const itself = await standInSwarm(t, FIRST);
  await runtimeAt(one, itself, null, { [FIRST]: itself.url }).create(spec);
  t.same([one.services.size, one.volumes.size, itself.volumes.size], [1, 0, 1]);
});

t.test('an image goes to a node that can run it, and to no other', async (t) => {
  const { one, two, runtime, spec } = await scene(t);
  one.behaviour.imageArchitecture = 'arm64';
  await runtime.create(spec);
  t.same(nodeOf(one.configs), [SECOND]);
  one.behaviour.imageArchitecture = null;
  await runtime.create(aSpec(IMAGE));
  t.same(nodeOf(one.configs), [SECOND, FIRST], 'the first node is not avoided for others');
  for (const { behaviour } of [one, two]) behaviour.imageArchitecture = 'arm64';
  await t.rejects(runtime.create(aSpec(IMAGE)), {
    name: 'ImageUnavailable',
    message: /is for arm64, and its node has amd64/,
  });
  for (const { behaviour } of [one, two]) behaviour.imageArchitecture = '386';
  await t.resolves(runtime.create(aSpec(IMAGE)), 'which that architecture runs as well');
});

t.test('a container keeps its image, also on a node that runs it by an emulator', async (t) => {
  const { one, runtime, spec } = await scene(t);
  await runtime.create(spec);
  one.behaviour.imageArchitecture = 'arm64';
  await t.resolves(runtime.create({ ...spec, generation: 2 }));
});

t.test('the engine of a leader that is listed with no address of its own is found', async (t) => {
  const addresses = { template: 'https://{addr}:2376', byNode: {} };
  for (const [own, ofManager, address] of [
    ['0.0.0.0', '10.0.0.2:2377', '10.0.0.2'],
    ['127.0.0.1', '10.0.0.2:2377', '10.0.0.2'],
    ['', '10.0.0.2:2377', '10.0.0.2'],
    ['::', '10.0.0.2:2377', '10.0.0.2'],
    ['10.0.0.3', '10.0.0.2:2377', '10.0.0.3'],
    ['127.0.0.1', '127.0.0.1:2377', '127.0.0.1'],
    ['127.0.0.1', undefined, '127.0.0.1'],
  ] as const) {
    const node = {
      ...nodeTwo(SECOND),
      Status: { State: 'ready', Addr: own },
      ...(ofManager && { ManagerStatus: { Addr: ofManager } }),
    };
    t.equal(engineUrlOf(node, addresses), `https://${address}:2376`, `${own} and ${ofManager}`);
  }
});

t.test('an image of a registry goes to nodes of any architecture', async (t) => {
  const { one, two, runtime, spec } = await scene(t, TOOLS);
  one.behaviour.architecture = 'arm64';
  one.behaviour.missingImage = IMAGE;
  await runtime.create(spec);
  t.same(nodeOf(one.configs), [SECOND]);
  t.equal(two.volumes.has(spec.volume), true);
  t.same((await swarmHealth(runtime.swarm)).faults, []);
});

t.test('a node of another architecture than the manager gets nothing, and is named', async (t) => {
  const { one, two, runtime, spec } = await scene(t, BASE_REFERENCE);
  one.behaviour.architecture = 'arm64';
  one.behaviour.missingImage = IMAGE;
  await t.rejects(runtime.create(spec), { name: 'ImageUnavailable' });
  t.same([two.volumes.size, two.containers.length], [0, 0]);
  t.match(await swarmHealth(runtime.swarm), {
    detail: '2 nodes, 1 in use; no containers on two, which has another CPU architecture than the manager',
    faults: [],
  });
});

t.test('a node in maintenance gets no container, and those it has are refused a start', async (t) => {
  for (const availability of ['drain', 'pause'] as const) {
    const { one, runtime, open, spec } = await scene(t);
    const handle = await runtime.create(spec);
    one.behaviour.availability = availability;
    const message = new RegExp(availability);
    await t.rejects(runtime.start(handle), { name: 'NodeInMaintenance', message }, 'at once');
    const now = open();
    const made = one.services.size;
    await t.rejects(now.create({ ...spec, generation: 2 }), { name: 'NodeInMaintenance' });
    t.equal(one.services.size, made, 'which an earlier one would be stopped for');
    await now.create({ ...spec, generation: 3, mayStayStopped: true });
    t.equal(one.services.size, made + 1, 'what is restored waits there');
    t.match(await now.observe(handle), { kind: 'stopped', isInMaintenance: true });
    await now.create(aSpec(IMAGE));
    t.same(nodeOf(one.configs), [FIRST, SECOND]);
    t.equal(await now.volumeExists(spec.volume), true, 'its files are there');
    one.behaviour.availability = 'active';
    t.match(await open().observe(handle), { kind: 'stopped', isInMaintenance: undefined });
    await open().start(handle);
    t.equal(one.tasks.length, 1);
  }
});

t.test('a paused node, whose containers run on, keeps its rules', async (t) => {
  for (const [availability, sets] of [
    ['pause', true],
    ['drain', false],
  ] as const) {
    const { one, open, runtime, spec } = await scene(t, TOOLS);
    await runtime.create(spec);
    const rules = () => one.execs.filter((input) => input.includes('*filter')).length;
    const before = rules();
    one.behaviour.availability = availability;
    await open().swarm.firewalls.assertAll();
    t.equal(rules() > before, sets, availability);
  }
});

t.test('programs of a node that never end are given up', async (t) => {
  const { one } = await scene(t);
  one.behaviour.hangs = true;
  const calls = engineCalls(dockerAt(one.address));
  const order = { calls, instanceId: 'an-installation', image: TOOLS, lifeSeconds: 1 };
  await t.rejects(
    onHostOf(order, (run) => run('iptables-save', [])),
    { name: 'RuntimeUnavailable', message: /did not end within 1 s/ },
  );
});
