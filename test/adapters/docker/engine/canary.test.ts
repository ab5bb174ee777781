import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { dockerCanary, type Reached } from '../../../../src/adapters/docker/containers/isolation-probe.ts';
import { runtimeSettings } from '../../../../src/adapters/docker/containers/runtime-settings.ts';
import { CANARY_LABEL, chainName } from '../../../../src/adapters/docker/engine/engine-names.ts';
import { isRoot, runOrThrow } from '../../../../src/adapters/docker/host/host-commands.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { waitFor } from '../../../support/patience.ts';

function iptables(...args: string[]): Promise<string> {
  return runOrThrow('iptables', ['--wait', '5', ...args]);
}

const MANY_ADDRESSES = 400;

const engine = await engineOrSkip(t);
if (engine !== null && (!isRoot() || !engine.isLocal)) {
  t.pass('canary', { skip: 'the packet filter needs root and an engine on this machine' });
} else if (engine !== null) {
  await manyAddresses(t);
  const instance = await testInstance(t, engine);
  await leadMetadataHere(t, instance);
  await t.test('a canary finds closed what is closed', (t) => closed(t, instance));
  await t.test('a canary finds open what is open', (t) => open(t, instance));
  await t.test('a canary that is told to stop leaves nothing', (t) => stopped(t, instance));
}

async function aCanary({ docker, instanceId, network, image, isLocal }: TestInstance) {
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  return dockerCanary(docker, { ...settings, image, isLocal });
}

async function left({ docker, instanceId }: TestInstance): Promise<number> {
  const label = [`${CANARY_LABEL}=${instanceId}`];
  return (await docker.listContainers({ all: true, filters: { label } })).length;
}

/** Each engine beside this one adds addresses, and a machine with many networks has hundreds. */
async function manyAddresses(t: Test): Promise<void> {
  const link = `many${process.pid}`;
  await runOrThrow('ip', ['link', 'add', link, 'type', 'bridge']);
  t.teardown(() => runOrThrow('ip', ['link', 'del', link]));
  const lines = Array.from(
    { length: MANY_ADDRESSES },
    (_, n) => `address add 198.18.${n >> 8}.${n & 255}/32 dev ${link}`,
  );
  await runOrThrow('sh', ['-c', 'printf "%s\n" "$@" | ip -batch -', 'sh', ...lines]);
  await runOrThrow('ip', ['link', 'set', link, 'up']);
}

async function closed(t: Test, instance: TestInstance): Promise<void> {
  t.same(await (await aCanary(instance)).prove(), [], 'the rules hold, wherever a packet is led');
  t.equal(await left(instance), 0, 'and no canary remains');
  t.same((await instance.runtime.list()).length, 0, 'nor was any taken for a workspace');
}

/** Each thing that is found has its own name and address. */
async function open(t: Test, instance: TestInstance): Promise<void> {
  const { network, instanceId } = instance;
  const chain = chainName(instanceId);
  await iptables('-F', `${chain}-IN`);
  await iptables('-I', `${chain}-FW`, '1', '-i', network.bridge, '-o', network.bridge, '-j', 'ACCEPT');
  const image = await withEngineSocket(t, instance);
  const reached = await (await aCanary({ ...instance, image })).prove();
  const at = (what: Reached['what']) => reached.filter((one) => one.what === what).map((one) => one.at);
  t.match(at('neighbour'), [/:8099$/], 'another container');
  t.same(at('metadata'), ['169.254.169.254:80'], 'an address that tells of the machine');
  t.match(at('engine'), [/docker\.sock$/], 'the socket of an engine');
  t.ok(at('host').length >= MANY_ADDRESSES, `all addresses of the machine are tried: ${at('host').length}`);
}

/** What a cloud answers at its address is here a server of this test, to which the packets are led. */
async function leadMetadataHere(t: Test, { network }: TestInstance): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => {}).end('secret\n')).listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const to = ['-j', 'REDIRECT', '--to-ports', `${port}`];
  const led = ['-i', network.bridge, '-p', 'tcp', '-d', '169.254.169.254', '--dport', '80', ...to];
  t.teardown(async () => {
    server.close();
    await iptables('-t', 'nat', '-D', 'PREROUTING', ...led);
  });
  await iptables('-t', 'nat', '-I', 'PREROUTING', ...led);
}

async function withEngineSocket(t: Test, { docker, image }: TestInstance): Promise<string> {
  const made = await docker.createContainer({ Image: image, Entrypoint: ['touch', '/run/docker.sock'] });
  t.teardown(() => made.remove({ force: true }));
  await made.start();
  await made.wait();
  const { Id } = await made.commit({});
  t.teardown(() => docker.getImage(Id).remove({ force: true }));
  return Id;
}

async function stopped(t: Test, instance: TestInstance): Promise<void> {
  const canary = await aCanary(instance);
  const flight = canary.prove().catch(() => undefined);
  await waitFor(async () => (await left(instance)) > 0, { everyMs: 20 });
  await canary.stop();
  await flight;
  t.equal(await left(instance), 0);
}
