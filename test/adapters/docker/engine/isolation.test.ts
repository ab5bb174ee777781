import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { chainName } from '../../../../src/adapters/docker/engine/engine-names.ts';
import { isRoot, runOrThrow } from '../../../../src/adapters/docker/host/host-commands.ts';
import { ownAddresses } from '../../../../src/adapters/docker/network/host-network.ts';
import { ensureNetwork } from '../../../../src/adapters/docker/network/instance-network.ts';
import { gatewayOf } from '../../../../src/adapters/docker/network/subnet.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { aMachine } from '../../../support/agent/machine.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { portOf } from '../../../support/listen.ts';
import { silentLog } from '../../../support/samples/samples.ts';

const PORT = 8099;
/** Prints when it listens, and answers every connection with `hello`; perl is in every Debian image. */
const LISTEN = `use IO::Socket::INET; $| = 1; $s = IO::Socket::INET->new(Listen => 5, LocalPort => ${PORT}, ReuseAddr => 1) or die; print "listening\n"; while ($c = $s->accept) { print $c "hello\n"; close $c }`;
/**
 * `ADDRESS:PORT...`: prints each that has taken a connection after a second. One process tries them all, however many addresses
 * a machine has. The kernel takes a connection by itself at once; what the rules drop is never answered.
 */
const DIAL = `use Fcntl; use Socket; my %to;
for (@ARGV) {
  my ($address, $port) = split /:/;
  socket($to{$_}, PF_INET, SOCK_STREAM, 0) or die;
  fcntl($to{$_}, F_SETFL, O_NONBLOCK);
  connect($to{$_}, pack_sockaddr_in($port, inet_aton($address)));
}
sleep 1;
print "$_\n" for grep { getpeername($to{$_}) } @ARGV;`;
const ITSELF = `127.0.0.1:${PORT}`;

type Scene = {
  readonly instance: TestInstance;
  readonly here: RuntimeHandle;
  readonly neighbour: RuntimeHandle;
  /** Of a service on every address of this machine. */
  readonly hostPort: number;
};

const engine = await engineOrSkip(t);
if (engine !== null && (!isRoot() || !engine.isLocal)) {
  t.pass('isolation', { skip: 'the packet filter needs root and an engine on this machine' });
} else if (engine !== null) {
  const instance = await testInstance(t, engine);
  const [here, neighbour] = await Promise.all([listening(instance), listening(instance)]);
  const scene: Scene = { instance, here, neighbour, hostPort: await hostService(t) };
  await t.test('containers do not reach each other', (t) => neighbours(t, scene));
  await t.test('containers do not reach services of this machine', (t) => hostServices(t, scene));
  await t.test('containers do not reach internal networks', (t) => internalNetworks(t, scene));
  await t.test('packages can be installed on the private network', (t) => packages(t, instance, here));
  await t.test('the firewall rules return after a flush', (t) => reassert(t, scene));
}

/** A container with a service. */
async function listening(instance: TestInstance): Promise<RuntimeHandle> {
  const { runtime, image } = instance;
  const resources = { memoryMb: 1024, cpuMillicores: 2000, diskMb: 1024 };
  const handle = await runtime.create(aSpec(image, { resources }));
  await runtime.start(handle);
  const begin = `setsid perl -e '${LISTEN}' > /tmp/listens 2>&1 & until [ -s /tmp/listens ]; do sleep 0.05; done`;
  await sh(instance, handle, `${begin}; cat /tmp/listens`);
  return handle;
}

async function hostService(t: Test): Promise<number> {
  // An aborted client is no fault of the server.
  const server = createServer((socket) => socket.on('error', () => {}).end('hello\n'));
  return await portOf(t, server, '0.0.0.0');
}

async function sh(
  instance: TestInstance,
  handle: RuntimeHandle,
  script: string,
  timeoutSeconds = 20,
): Promise<string> {
  const command = ['bash', '-c', script];
  const { stdout, stderr } = await runIn(instance.commands, handle, command, { timeoutSeconds });
  return `${stdout}${stderr}`.trim();
}

/** The ones of these that a container reaches, besides its own service. */
async function reached(
  { instance }: Scene,
  from: RuntimeHandle,
  targets: readonly string[],
): Promise<readonly string[]> {
  const command = ['perl', '-e', DIAL, ITSELF, ...targets];
  const { stdout, stderr } = await runIn(instance.commands, from, command);
  const [itself, ...others] = stdout.toString().trim().split('\n');
  if (itself !== ITSELF) throw new Error(`it does not even reach itself: ${itself} ${stderr}`);
  return others;
}

/** No hurry for an answer that must come. */
function dialFromHere(address: string, port = PORT): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 10_000 });
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

async function neighbours(t: Test, scene: Scene): Promise<void> {
  const { instance, here, neighbour } = scene;
  const address = await addressOf(instance, neighbour);
  const there = `${address}:${PORT}`;
  t.equal(await dialFromHere(address), 'hello', 'the service is there');
  t.same(await reached(scene, neighbour, [there]), [there], 'and answers its own container');
  t.same(await reached(scene, here, [there]), [], 'but no other');
  t.match(
    await sh(instance, here, `ping -c1 -W1 ${address} | tail -2; ping -c1 127.0.0.1 | tail -2`),
    /100% packet loss[\s\S]* 0% packet loss/,
    'nor a ping, which itself works',
  );
  t.equal(
    await sh(instance, here, 'cat /proc/net/if_inet6 | grep -v " lo$"'),
    '',
    'there is no way around by IPv6',
  );
}

/** Addresses of concurrent engines come and go, so only those that answer this machine count. */
async function hostServices(t: Test, scene: Scene): Promise<void> {
  const { instance, here, hostPort } = scene;
  const own = (await ownAddresses()).filter((address) => !address.startsWith('127.'));
  const answers = await Promise.all(own.map((address) => dialFromHere(address, hostPort)));
  const open = own.filter((_, at) => answers[at] === 'hello');
  t.ok(open.includes(gatewayOf(instance.network.subnet)), 'the gateway is one of them');
  t.same(
    await reached(
      scene,
      here,
      open.map((address) => `${address}:${hostPort}`),
    ),
    [],
    `none of ${open.length} addresses answers a container`,
  );
  t.equal(await sh(instance, here, 'ls /var/run/docker.sock /run/berth-*/docker.sock 2>/dev/null; true'), '');
}

/** Another machine with a private and a link-local address, to which this machine forwards. */
async function internalNetworks(t: Test, scene: Scene): Promise<void> {
  const machine = await aMachine(t);
  await machine.ip('address', 'add', '169.254.169.254/32', 'dev', 'lo');
  await machine.ip('route', 'add', 'default', 'via', machine.here);
  // Concurrent runs on this machine have a route of their own.
  const metric = ['metric', `${randomInt(1, 2 ** 31)}`];
  await runOrThrow('ip', ['route', 'add', '169.254.169.254/32', 'via', machine.there, ...metric]);
  t.equal(await machine.run('perl', ['-e', LISTEN]).line(), 'listening');
  const addresses = [machine.there, '169.254.169.254'];
  for (const address of addresses)
    t.equal(await dialFromHere(address), 'hello', `${address} answers this machine`);
  const targets = addresses.map((address) => `${address}:${PORT}`);
  t.same(await reached(scene, scene.here, targets), [], 'neither answers a container');
}

async function packages(t: Test, instance: TestInstance, here: RuntimeHandle): Promise<void> {
  // The image's own lists suffice, unless it is old: reading new ones takes more time than all else.
  const install =
    'export DEBIAN_FRONTEND=noninteractive; get="apt-get -q -o Acquire::Retries=3"; add="$get install -y --no-install-recommends sudo cron netcat-openbsd"; $add || { $get update && $add; }';
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
      '(echo low port | nc -lN 80 &); until nc -d 127.0.0.1 80; do sleep 0.1; done 2>/dev/null',
    ),
    'low port',
  );
}

async function reassert(t: Test, scene: Scene): Promise<void> {
  const { instance, here } = scene;
  const gateway = `${gatewayOf(instance.network.subnet)}:${scene.hostPort}`;
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
  t.same(await reached(scene, here, [gateway]), [gateway], 'without the rules a service is open');
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
  t.same(await reached(scene, here, [gateway]), [], 'and it is closed');
}
