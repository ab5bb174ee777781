import t, { type Test } from 'tap';
import { dockerAt } from '../../../src/adapters/docker/engine/engine-client.ts';
import { BASE_REFERENCE } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { removeFirewall } from '../../../src/adapters/docker/network/firewall.ts';
import { configName } from '../../../src/adapters/swarm/network/node-networks.ts';
import { swarmLeftovers } from '../../../src/adapters/swarm/uninstall/swarm-leftovers.ts';
import { aSpec } from '../../support/engine/container.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

const IMAGE = 'registry.example/box:1';

const [FIRST, SECOND] = ['n1n1n1n1n1n1n1n1n1n1n1n1n', 'n2n2n2n2n2n2n2n2n2n2n2n2n'];
const NOWHERE = 'http://127.0.0.1:1';

const nodeTwo = (State: string, more = {}) => ({
  ID: SECOND,
  Spec: { Availability: 'active' as const },
  Status: { State, Addr: '127.0.0.1' },
  Description: { Hostname: 'two' },
  ...more,
});

/** A swarm of one node with containers of an installation. */
async function scene(t: Test) {
  const one = await standInSwarm(t, FIRST);
  const docker = dockerAt(one.address);
  const { url: template } = one;
  const addresses = { template, byNode: {}, certPath: null };
  const install = async (instanceId: string) => {
    const runtime = runtimeOn(one, { instanceId });
    await runtime.start(await runtime.create(aSpec(IMAGE)));
    return runtime;
  };
  /** `two`: the address of the second node's engine. */
  const asked = (two = template, defaultImage: string | null = null) =>
    swarmLeftovers(docker, { ...addresses, byNode: { [SECOND]: two } }, 'an-installation', defaultImage);
  const things = () => [one.services, one.configs, one.volumes, one.networks].map(({ size }) => size);
  return { one, install, asked, things };
}

t.test('an installation is removed from a swarm, and nothing of another one', async (t) => {
  const { one, install, asked, things } = await scene(t);
  const other = await install('another-installation');
  const others = things();
  await install('an-installation');
  t.same(await asked().count(), { containers: 1, volumes: 1, stays: [] });
  const left = await asked().remove();
  t.same(things(), others);
  t.same(left, ['The base image stays on all nodes: another installation is in the Swarm.']);
  t.same(one.removedImages, []);
  t.match(await other.list(), [{ state: 'running' }]);
  t.same(await asked().count(), { containers: 0, volumes: 0, stays: [] });
  t.same(await asked().remove(), left, 'it may be repeated');
});

t.test('the base image stays while another installation has any object in the swarm', async (t) => {
  const { one, install, asked } = await scene(t);
  await install('another-installation');
  const kinds = ['services', 'configs', 'volumes', 'networks'] as const;
  const before = new Map(kinds.map((kind) => [kind, [...one[kind]]]));
  const keepOnly = (kept: (typeof kinds)[number]) => {
    for (const kind of kinds) one[kind].clear();
    for (const [name, each] of before.get(kept) ?? []) (one[kept] as Map<string, unknown>).set(name, each);
  };
  const containers = one.containers.splice(0);
  for (const [kept, where] of [
    ['services', 'all nodes'],
    ['configs', 'all nodes'],
    ['volumes', 'one'],
    ['networks', 'one'],
  ] as const) {
    keepOnly(kept);
    t.match(await asked().remove(), [new RegExp(`^The base image stays on ${where}: `)], kept);
  }
  one.networks.clear();
  one.containers.push(...containers);
  t.match(await asked().remove(), [/^The base image stays on one: /], 'containers');
  t.same(one.removedImages, []);
  one.containers.length = 0;
  t.same(await asked().remove(), []);
  t.same(one.removedImages, [BASE_REFERENCE]);
});

t.test(
  'a node that cannot list other installations keeps its base image; other messages still appear',
  async (t) => {
    const { one, install, asked } = await scene(t);
    await install('an-installation');
    const [[name, config] = ['', {}]] = [...one.configs];
    one.configs.set(name, { ...config, Labels: { ...config.Labels, 'berth.node': 'n3' } });
    one.behaviour.refusesNetworks = true;
    t.match(await asked().remove(), [
      /machine of the node n3, which is no longer/,
      /^The base image may stay on one: .*nothing is listed/,
    ]);
    t.same(one.removedImages, []);
  },
);

t.test('while the engine of a node cannot be used nothing is removed, with the reason', async (t) => {
  const { one, install, asked, things } = await scene(t);
  await install('an-installation');
  const everywhere = things();
  const ManagerStatus = { Addr: '127.0.0.1:2377' };
  const cases = [
    [nodeTwo('down'), NOWHERE, /the node two \(n2n2.*by docker node rm --force n2n2/],
    [nodeTwo('down', { ManagerStatus }), NOWHERE, /docker node demote n2n2\w+ && docker node rm/],
    // Its address is the first node's now, and its machine is only off.
    [nodeTwo('down'), undefined, /start it, or take a machine/],
    [nodeTwo('ready'), undefined, /is of the node n1n1\w+; see docs.swarm\.md$/],
    [nodeTwo('ready'), NOWHERE, /ECONNREFUSED.*; see docs.swarm\.md$/],
  ] as const;
  for (const [node, address, message] of cases) {
    one.otherNodes.splice(0, 1, node);
    await t.rejects(asked(address).count(), { message });
  }
  t.same(things(), everywhere);
});

t.test('files on machines that were not asked are named', async (t) => {
  const { one, install, asked } = await scene(t);
  await install('an-installation');
  const [[name, config] = ['', {}]] = [...one.configs];
  const moveTo = (nodeId: string) =>
    one.configs.set(name, { ...config, Labels: { ...config.Labels, 'berth.node': nodeId } });
  moveTo(SECOND);
  // Its machine has joined again, as the first node.
  one.otherNodes.push(nodeTwo('down', { Description: { Hostname: 'one' } }));
  const ofFormer = [/Nothing is removed for the node n2n2.*another node/];
  t.match(await asked().count(), { stays: ofFormer }, 'before the removal');
  t.match(await asked().remove(), ofFormer);
  one.otherNodes.length = 0;
  moveTo('n3');
  t.match(await asked().remove(), [/machine of the node n3, which is no longer in the Swarm/]);
});

t.test('rules that stay are reported, and the image with the tools to remove them stays', async (t) => {
  const { one, install, asked } = await scene(t);
  await install('an-installation');
  one.behaviour.missingImage = BASE_REFERENCE;
  t.match(await asked().remove(), [/rules may stay on one,.*does not have the image/]);
  t.ok(one.networks.has(configName('an-installation')), 'by which the next removal knows of them');
  one.behaviour.missingImage = null;
  one.behaviour.exitCode = 4;
  t.match(await asked().remove(), [/rules may stay on one, in chains named .*ended with 4/]);
  t.same(one.removedImages, []);
  t.ok(one.networks.has(configName('an-installation')));
  one.behaviour.exitCode = 0;
  t.same(await asked().remove(), []);
  t.same(one.removedImages, [BASE_REFERENCE]);
});

t.test('rules are removed with the default image of the catalogue where the base image is not', async (t) => {
  const { one, install, asked } = await scene(t);
  await install('an-installation');
  one.behaviour.missingImage = BASE_REFERENCE;
  t.same(await asked(undefined, IMAGE).remove(), []);
  t.notOk(one.networks.has(configName('an-installation')));
});

t.test('rules that cannot be read are reported, unless there can be none', async (t) => {
  const removing = (codes: Readonly<Record<string, number>>) =>
    removeFirewall('an-installation', async (command) => ({
      code: codes[command] ?? 0,
      stdout: '',
      stderr: '',
    }));
  await removing({ 'iptables-save': 127, 'ip6tables-save': 127 });
  await removing({ 'ip6tables-save': 1, test: 1 });
  await t.rejects(removing({ 'ip6tables-save': 1 }), { message: /ip6tables-save ended with 1/ });
  await t.rejects(removing({ 'iptables-save': 1, test: 1 }), { message: /iptables-save ended with 1/ });
});
