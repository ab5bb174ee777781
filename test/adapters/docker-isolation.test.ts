import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { isRoot, run, runOrThrow } from '../../src/adapters/docker/host.ts';
import { ownAddresses } from '../../src/adapters/docker/host-network.ts';
import { chainName } from '../../src/adapters/docker/labels.ts';
import { ensureNetwork } from '../../src/adapters/docker/network.ts';
import { gatewayOf } from '../../src/adapters/docker/subnet.ts';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import { aSpec } from '../support/container-spec.ts';
import { engineOrSkip, silentLog, type TestInstance, testInstance } from '../support/engine.ts';

const PORT = 8099;
/** Answers every connection with `hello`; perl is in every Debian image. */
const LISTEN = `use IO::Socket::INET; $s = IO::Socket::INET->new(Listen => 5, LocalPort => ${PORT}, ReuseAddr => 1) or die; while ($c = $s->accept) { print $c "hello\\n"; close $c }`;

const engine = await engineOrSkip(t);
if (engine !== null && (!isRoot() || !engine.isLocal)) {
  t.pass('isolation', { skip: 'the packet filter needs root and an engine on this machine' });
} else if (engine !== null) {
  const instance = await testInstance(t, engine);
  const [here, neighbour] = await Promise.all([started(instance), started(instance)]);
  await t.test('containers do not reach each other', (t) => neighbours(t, instance, here, neighbour));
  await t.test('containers do not reach services of this machine', (t) => hostServices(t, instance, here));
  await t.test('containers do not reach internal networks', (t) => internalNetworks(t, instance, here));
  await t.test('packages can be installed', (t) => packages(t, instance, here));
  await t.test('the rules come back after a flush', (t) => reassert(t, instance, here));
}

async function started({ runtime, image }: TestInstance): Promise<RuntimeHandle> {
  const handle = await runtime.create(
    aSpec(image, { resources: { memoryMb: 1024, cpuMillicores: 2000, diskMb: 1024 } }),
  );
  await runtime.start(handle);
  return handle;
}

async function sh(
  instance: TestInstance,
  handle: RuntimeHandle,
  script: string,
  timeoutSeconds = 20,
): Promise<string> {
  const request = { command: ['bash', '-c', script], timeoutSeconds, maxOutputBytes: 100_000 };
  const { stdout, stderr } = await instance.runtime.exec(handle, request);
  return `${stdout}${stderr}`.trim();
}

/** What a container gets from an address: `hello`, or nothing. */
function dial(instance: TestInstance, from: RuntimeHandle, address: string, port = PORT): Promise<string> {
  return sh(instance, from, `timeout 0.7 bash -c 'cat < /dev/tcp/${address}/${port}' 2>/dev/null; true`);
}

function dialFromHere(address: string, port = PORT): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 1000 });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.once('timeout', () => socket.destroy());
    socket.once('error', () => {});
    socket.once('close', () => resolve(text.trim()));
  });
}

async function addressOf({ docker, network }: TestInstance, { runtimeId }: RuntimeHandle): Promise<string> {
  const info = await docker.getContainer(runtimeId).inspect();
  return info.NetworkSettings.Networks[network.name]?.IPAddress ?? '';
}

async function neighbours(
  t: Test,
  instance: TestInstance,
  here: RuntimeHandle,
  there: RuntimeHandle,
): Promise<void> {
  await sh(instance, there, `setsid perl -e '${LISTEN}' >/dev/null 2>&1 & sleep 0.5`);
  const address = await addressOf(instance, there);
  t.equal(await dialFromHere(address), 'hello', 'the service is there');
  t.equal(await dial(instance, there, address), 'hello', 'and answers its own container');
  t.equal(await dial(instance, here, address), '', 'but no other');
  t.match(await sh(instance, here, `ping -c1 -W1 ${address} | tail -2`), /100% packet loss/);
  t.match(
    await sh(instance, here, 'ping -c1 -W1 127.0.0.1 | tail -2'),
    / 0% packet loss/,
    'ping itself works',
  );
  t.equal(
    await sh(instance, here, 'cat /proc/net/if_inet6 | grep -v " lo$"'),
    '',
    'there is no way around by IPv6',
  );
}

async function hostServices(t: Test, instance: TestInstance, here: RuntimeHandle): Promise<void> {
  // A client that is cut off is no fault of the server.
  const server = createServer((socket) => socket.on('error', () => {}).end('hello\n')).listen(0, '0.0.0.0');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const port = (server.address() as AddressInfo).port;
  const addresses = (await ownAddresses()).filter((address) => !address.startsWith('127.'));
  t.ok(addresses.includes(gatewayOf(instance.network.subnet)), 'the gateway is one of them');
  const check = async (address: string): Promise<void> => {
    t.equal(await dialFromHere(address, port), 'hello', `${address} answers this machine`);
    t.equal(await dial(instance, here, address, port), '', `${address} does not answer a container`);
  };
  await Promise.all(addresses.map(check));
  t.equal(await sh(instance, here, 'ls /var/run/docker.sock /run/berth-*/docker.sock 2>/dev/null; true'), '');
}

/** A machine of its own behind a private and a link-local address, to which this machine forwards. */
async function internalNetworks(t: Test, instance: TestInstance, here: RuntimeHandle): Promise<void> {
  const id = randomBytes(3).toString('hex');
  const [space, link, far] = [`berth-t${id}`, `bt${id}`, `bf${id}`];
  t.teardown(async () => {
    await run('ip', ['link', 'delete', link]);
    await run('ip', ['netns', 'delete', space]);
  });
  const ip = (...args: string[]): Promise<string> => runOrThrow('ip', args);
  await ip('netns', 'add', space);
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', far, 'netns', space);
  await ip('address', 'add', '172.31.213.1/30', 'dev', link);
  await ip('link', 'set', link, 'up');
  await ip('-n', space, 'address', 'add', '172.31.213.2/30', 'dev', far);
  await ip('-n', space, 'address', 'add', '169.254.169.254/32', 'dev', far);
  await ip('-n', space, 'link', 'set', far, 'up');
  await ip('-n', space, 'route', 'add', 'default', 'via', '172.31.213.1');
  await ip('route', 'add', '169.254.169.254/32', 'via', '172.31.213.2');
  const listening = run('ip', ['netns', 'exec', space, 'timeout', '5', 'perl', '-e', LISTEN]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (const address of ['172.31.213.2', '169.254.169.254']) {
    t.equal(await dialFromHere(address), 'hello', `${address} answers this machine`);
    t.equal(await dial(instance, here, address), '', `${address} does not answer a container`);
  }
  await listening;
}

async function packages(t: Test, instance: TestInstance, here: RuntimeHandle): Promise<void> {
  const install =
    'export DEBIAN_FRONTEND=noninteractive; apt-get -q update && apt-get -q install -y --no-install-recommends sudo cron netcat-openbsd';
  const output = await sh(
    instance,
    here,
    `(${install}) >/tmp/log 2>&1 && echo done || tail -20 /tmp/log`,
    120,
  );
  t.equal(output, 'done', 'the resolver and the package mirror are reachable, and the capabilities suffice');
  t.match(
    await sh(instance, here, 'stat -c "%A %U %G" /usr/bin/sudo /usr/bin/crontab'),
    /^-rwsr-xr-x root root\n-rwxr-sr-x root crontab$/,
  );
  t.equal(await sh(instance, here, 'su -s /bin/sh -c "id -un" nobody'), 'nobody');
  t.equal(
    await sh(
      instance,
      here,
      '(echo low port | timeout 2 nc -lN 80 &) ; sleep 0.3; timeout 1 nc -d 127.0.0.1 80',
    ),
    'low port',
  );
}

async function reassert(t: Test, instance: TestInstance, here: RuntimeHandle): Promise<void> {
  const rules = async (): Promise<string> => {
    const saved = await runOrThrow('iptables-save', []);
    return saved
      .split('\n')
      .filter((line) => line.includes(chainName(instance.instanceId)))
      .join('\n');
  };
  const before = await rules();
  await runOrThrow('iptables', ['--wait', '5', '-F', `${chainName(instance.instanceId)}-IN`]);
  await runOrThrow('iptables', [
    '--wait',
    '5',
    '-D',
    'FORWARD',
    '-j',
    `${chainName(instance.instanceId)}-FW`,
  ]);
  t.not(await rules(), before);
  const found = await Promise.all([instance.network.assertRules(), instance.network.assertRules()]);
  const hook = `gone: -A FORWARD -j ${chainName(instance.instanceId)}-FW`;
  t.ok(found[0]?.includes(hook), 'it says what others took away');
  t.match(found[0]?.join('\n'), /gone: -A BERTH-\w+-IN -i \w+-\w+ -j DROP/);
  t.same(found[1], [], 'once');
  t.same(await instance.network.assertRules(), [], 'and finds what it set as it was left');
  const sorted = (text: string): string[] =>
    text
      .replaceAll(/\[\d+:\d+\]/g, '')
      .split('\n')
      .sort();
  t.same(sorted(await rules()), sorted(before), 'all there once');
  const again = await ensureNetwork(instance, { instanceId: instance.instanceId, log: silentLog });
  t.equal(again.subnet, instance.network.subnet, 'a next start finds the same network');
  t.equal(again.warning, null);
  t.equal(await dial(instance, here, gatewayOf(instance.network.subnet), 22), '');
}
