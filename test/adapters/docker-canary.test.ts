import pino from 'pino';
import t, { type Test } from 'tap';
import { dockerCanary } from '../../src/adapters/docker/canary.ts';
import { isRoot, runOrThrow } from '../../src/adapters/docker/host.ts';
import { CANARY_LABEL, chainName } from '../../src/adapters/docker/labels.ts';
import { runtimeSettings } from '../../src/adapters/docker/runtime-settings.ts';
import { NOT_LOOKED, watchIsolation } from '../../src/app/main/isolation.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine.ts';

function iptables(...args: string[]): Promise<string> {
  return runOrThrow('iptables', ['--wait', '5', ...args]);
}

const engine = await engineOrSkip(t);
if (engine !== null && (!isRoot() || !engine.isLocal)) {
  t.comment('the packet filter needs root and an engine on this machine');
} else if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('a canary finds closed what is closed, and open what is open', (t) => flights(t, instance));
  await t.test('where something is open, the rules are set again', (t) => mended(t, instance));
  await t.test('one that is told to stop leaves nothing', (t) => stopped(t, instance));
}

async function aCanary({ docker, instanceId, network, image, isLocal }: TestInstance) {
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  return dockerCanary(docker, { ...settings, image, isLocal });
}

async function left({ docker, instanceId }: TestInstance): Promise<number> {
  const label = [`${CANARY_LABEL}=${instanceId}`];
  return (await docker.listContainers({ all: true, filters: { label } })).length;
}

async function flights(t: Test, instance: TestInstance): Promise<void> {
  const canary = await aCanary(instance);
  const { network, instanceId } = instance;
  const chain = chainName(instanceId);
  t.teardown(() => network.assertRules());
  t.same(await canary.prove(), []);

  await iptables('-F', `${chain}-IN`);
  const host = await canary.prove();
  t.same([...new Set(host.map((one) => one.what))], ['host'], 'a service of this machine');
  await network.assertRules();

  await iptables('-I', `${chain}-FW`, '1', '-i', network.bridge, '-o', network.bridge, '-j', 'ACCEPT');
  t.match(await canary.prove(), [{ what: 'neighbour', at: /:8099$/ }], 'another container');
  await network.assertRules();

  t.same(await canary.prove(), []);
  t.equal(await left(instance), 0, 'and no canary remains');
  t.same((await instance.runtime.list()).length, 0, 'nor was any taken for a workspace');
}

async function mended(t: Test, instance: TestInstance): Promise<void> {
  await iptables('-F', `${chainName(instance.instanceId)}-IN`);
  const parts = { isolation: NOT_LOOKED };
  const said: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => note(t, said, line) });
  const watched = watchIsolation({
    parts,
    log,
    assertRules: instance.network.assertRules,
    firstAfterMs: 0,
    retryMs: 500,
  });
  watched.begin(await aCanary(instance));
  while (parts.isolation === NOT_LOOKED || parts.isolation.status !== 'ready') {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.match(parts.isolation, {
    status: 'ready',
    detail: 'was open (services of this machine), is closed again',
  });
  t.ok(
    said.some((line) => /containers can reach services of this machine/.test(line)),
    'it is said loudly',
  );
  await watched.stop();
  t.same(await (await aCanary(instance)).prove(), []);
}

/** On a busy machine a try may fail and be repeated: why is then said beside the test. */
function note(t: Test, said: string[], line: string): void {
  t.comment(line.trim());
  said.push(JSON.parse(line).msg);
}

async function stopped(t: Test, instance: TestInstance): Promise<void> {
  const canary = await aCanary(instance);
  const flight = canary.prove();
  flight.catch(() => undefined);
  while ((await left(instance)) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await canary.stop();
  await flight.catch(() => undefined);
  t.equal(await left(instance), 0);
}
