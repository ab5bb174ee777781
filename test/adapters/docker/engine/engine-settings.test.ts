import t from 'tap';
import {
  CAPABILITIES,
  createOptions,
  type RuntimeSettings,
} from '../../../../src/adapters/docker/containers/create-options.ts';
import {
  addressOf,
  compareVersions,
  floorWarning,
  tooOld,
} from '../../../../src/adapters/docker/engine/engine-probe.ts';
import { processLimitsOf } from '../../../../src/adapters/docker/host/process-limits.ts';
import { aptSettings, sourceLines } from '../../../../src/adapters/docker/images/base-image-recipe.ts';
import { removalScript } from '../../../../src/adapters/docker/network/firewall.ts';
import { neededOpenings, restoreScript } from '../../../../src/adapters/docker/network/firewall-rules.ts';
import { networkOptions } from '../../../../src/adapters/docker/network/instance-network.ts';
import { hostsOf } from '../../../../src/adapters/docker/network/package-mirrors.ts';
import { blockOf, gatewayOf, isWithin, pickSubnet } from '../../../../src/adapters/docker/network/subnet.ts';
import { daemonArgs, layoutOf } from '../../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { INTERNAL_NETWORKS } from '../../../../src/adapters/internal-networks.ts';
import { aSpec } from '../../../support/engine/container.ts';

t.test('a subnet is free, stable for a seed, and avoids taken ranges', async (t) => {
  const first = pickSubnet('seed', []);
  t.match(first, /^10\.\d+\.\d+\.0\/20$/);
  t.equal(pickSubnet('seed', ['default', 'fe80::/64', '192.0.2.0/24']), first, 'others do not disturb it');
  t.not(pickSubnet('seed', [first]), first);
  t.not(pickSubnet('seed', [gatewayOf(first)]), first, 'a single address inside is in the way too');
  t.throws(() => pickSubnet('seed', ['10.0.0.0/8']), /no free subnet/);
  t.equal(gatewayOf('10.1.16.0/20'), '10.1.16.1');
});

t.test('address blocks are parsed', async (t) => {
  const table: [string, boolean][] = [
    ['10.255.255.53', true],
    ['172.15.255.255', false],
    ['172.16.0.1', true],
    ['172.32.0.0', false],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['192.168.1.1', true],
    ['203.0.113.80', false],
    ['8.8.8.8', false],
    ['224.0.0.251', true],
    ['255.255.255.255', true],
    ['not an address', false],
  ];
  for (const [address, inside] of table) t.equal(isWithin(address, INTERNAL_NETWORKS), inside, address);
  for (const bad of ['300.1.1.1', '1.2.3', '1.2.3.4/33', '::1', '']) t.equal(blockOf(bad), null, bad);
});

const SETTINGS: RuntimeSettings = {
  instanceId: 'i',
  network: 'n',
  cgroupParent: '/c',
  processLimits: { nofile: 1024, sigpending: 256, msgqueue: 102_400, memlock: 65_536 },
  hostCpuMillicores: 64_000,
};

t.test("limits become the engine's options", async (t) => {
  const table = [
    { memoryMb: 256, cpuMillicores: 100, bytes: 268_435_456, nano: 100_000_000 },
    { memoryMb: 8192, cpuMillicores: 8000, bytes: 8_589_934_592, nano: 8_000_000_000 },
  ];
  for (const { memoryMb, cpuMillicores, bytes, nano } of table) {
    const { HostConfig } = createOptions(
      aSpec('x', { resources: { memoryMb, cpuMillicores, diskMb: 1 } }),
      SETTINGS,
    );
    t.match(HostConfig, { Memory: bytes, MemorySwap: bytes, NanoCpus: nano, PidsLimit: 512 });
    t.notOk(HostConfig?.CpuShares, 'millicores are a cap, not a weight');
  }
});

t.test("process limits are soft and hard alike, and shares of the host's", async (t) => {
  const { Ulimits } = createOptions(aSpec('x'), SETTINGS).HostConfig ?? {};
  t.same(Ulimits, [
    { Name: 'nofile', Soft: 1024, Hard: 1024 },
    { Name: 'sigpending', Soft: 256, Hard: 256 },
    { Name: 'msgqueue', Soft: 102_400, Hard: 102_400 },
    { Name: 'memlock', Soft: 65_536, Hard: 65_536 },
    { Name: 'core', Soft: 0, Hard: 0 },
  ]);
  const limits = (open: string, signals: string, queues: string, locked: string): string =>
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      `Max open files            1024                 ${open}                files     `,
      `Max locked memory         65536                ${locked}                bytes     `,
      `Max pending signals       7000                 ${signals}                signals   `,
      `Max msgqueue size         819200               ${queues}               bytes     `,
    ].join('\n');
  const table = [
    [limits('20000', '96343', '819200', '8388608'), [20_000, 4_096, 102_400, 8_388_608]],
    [limits('1048576', '1000', 'unlimited', 'unlimited'), [65_536, 256, 819_200, 8_388_608]],
    [limits('512', '100', '50000', '65536'), [512, 100, 50_000, 65_536]],
    ['', [65_536, 4_096, 819_200, 8_388_608]],
  ] as const;
  for (const [text, expected] of table) {
    const { nofile, sigpending, msgqueue, memlock } = processLimitsOf(text);
    t.same([nofile, sigpending, msgqueue, memlock], expected);
  }
});

t.test('every container gets the same confinement', async (t) => {
  const spec = aSpec('img', {
    dbId: 'd',
    ownerId: 'o',
    operationId: 'p',
    generation: 3,
    env: { HOME: '/root', A: 'b' },
  });
  const options = createOptions(spec, SETTINGS);
  t.match(options, {
    name: /^ws-[0-9a-f]{24}$/,
    Image: 'img',
    User: '0:0',
    Hostname: /^test\.[0-9a-f]{16}$/,
    Healthcheck: { Test: ['NONE'] },
  });
  t.strictSame(options.Env, ['LANG=C.UTF-8', 'HOME=/workspace', 'A=b']);
  t.strictSame(options.Labels, {
    'berth.instance': 'i',
    'berth.db_id': 'd',
    'berth.owner': 'o',
    'berth.generation': '3',
    'berth.operation': 'p',
    'berth.disk_mb': '512',
  });
  const host = options.HostConfig ?? {};
  t.strictSame(host.CapDrop, ['ALL']);
  t.strictSame(host.CapAdd, [...CAPABILITIES]);
  t.match(host, {
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    Init: true,
    IpcMode: 'private',
    NetworkMode: 'n',
    PublishAllPorts: false,
    RestartPolicy: { Name: 'no' },
    CgroupParent: '/c',
    LogConfig: { Type: 'json-file', Config: { 'max-size': /^\d+m$/ } },
    Mounts: [{ Type: 'volume', Source: 'ws-d', Target: '/workspace' }],
  });
  for (const key of ['Binds', 'Devices', 'PidMode', 'UsernsMode', 'UTSMode', 'PortBindings'] as const) {
    t.equal(host[key], undefined, `${key} is not given`);
  }
  t.notOk('CgroupParent' in (createOptions(spec, { ...SETTINGS, cgroupParent: null }).HostConfig ?? {}));
});

t.test('rules open only resolvers and mirrors of the internal networks', async (t) => {
  const openings = neededOpenings(
    [
      { address: '10.0.0.53', port: 53, protocols: ['udp', 'tcp'] },
      { address: '203.0.113.80', port: 80, protocols: ['tcp'] },
      { address: '198.51.100.7', port: 53, protocols: ['udp'] },
    ],
    ['198.51.100.7'],
  );
  t.same(
    openings.map(({ address }) => address),
    ['10.0.0.53', '198.51.100.7'],
    'a public mirror needs no opening',
  );
  const plan = { chain: 'C', bridge: 'br', subnet: '10.1.0.0/20', openings, isRouter: true };
  const lines = restoreScript(plan, '').split('\n');
  const at = (part: string): number => lines.findIndex((line) => line.includes(part));
  t.ok(
    at('-A C-FW -i br -d 10.0.0.53/32 -p udp --dport 53 -j ACCEPT') <
      at('-A C-FW -i br -d 10.0.0.0/8 -j DROP'),
  );
  t.ok(
    at('-A C-FW -i br -o br -j DROP') < at('-A C-FW -i br -s 10.1.0.0/20 -j ACCEPT'),
    'neighbours come first',
  );
  t.ok(at('-A C-IN -i br -j DROP') > 0);
  t.ok(at('MASQUERADE') > 0);
  const saved =
    '*filter\n:INPUT ACCEPT [0:0]\n:C-IN - [0:0]\n:X - [0:0]\n-A INPUT -j X\n-A INPUT -j C-IN\n-A C-IN -i br -j DROP\nCOMMIT\n';
  t.notMatch(restoreScript(plan, saved), /-I INPUT/, 'what is there is not added again');
  t.equal(
    removalScript(saved, new Set(['C-IN', 'C-FW'])),
    '*filter\n-D INPUT -j C-IN\n-F C-IN\n-X C-IN\nCOMMIT\n',
  );
  const guest = restoreScript({ ...plan, isRouter: false }, '\n:DOCKER-USER - [0:0]\n');
  t.match(guest, /-I DOCKER-USER 1 -j C-FW/);
  t.notMatch(guest, /MASQUERADE|-s 10\.1\.0\.0/, 'an engine of others routes for itself');
});

t.test('a private engine leaves other engines alone', async (t) => {
  const at = layoutOf('/very/long/'.repeat(30));
  t.ok(at.socket.length < 107, 'the socket path fits whatever the data folder is');
  t.ok(at.bridge.length <= 15);
  t.same(layoutOf('/a/b'), layoutOf('/a/b/../b/'), 'found again by the next run');
  t.not(layoutOf('/a').bridge, layoutOf('/b').bridge);
  const args = daemonArgs(at, 1400, true);
  for (const arg of [
    '--iptables=false',
    '--live-restore',
    '--mtu=1400',
    `--bridge=${at.bridge}`,
    '--userns-remap=default',
  ]) {
    t.ok(args.includes(arg), arg);
  }
  t.notOk(daemonArgs(at, 1400, false).some((arg) => arg.startsWith('--userns-remap')));
  t.match(networkOptions('i', '10.1.0.0/20', 1400).Options, {
    'com.docker.network.bridge.enable_icc': 'false',
    'com.docker.network.driver.mtu': '1400',
  });
});

t.test('engine versions are compared and judged', async (t) => {
  t.ok(compareVersions('20.10.24+dfsg1', '29.5.1') < 0);
  t.ok(compareVersions('29.10', '29.5.1') > 0);
  t.equal(compareVersions('1.1.5+ds1', '1.1.5'), 0);
  const version = { engine: '29.5.1', runc: '1.3.3', apiVersion: '1.52', isPodman: false };
  t.equal(floorWarning(version), null);
  t.match(floorWarning({ ...version, engine: '20.10.24' }), /Docker 20\.10\.24/);
  t.match(floorWarning({ ...version, runc: '1.3.2' }), /runc 1\.3\.2/);
  t.equal(floorWarning({ ...version, runc: '1.2.8' }), null);
  t.equal(tooOld(version), null);
  t.match(tooOld({ ...version, apiVersion: '1.40' }), /too old/);
});

t.test('engine addresses are parsed', async (t) => {
  t.same(addressOf('unix:///run/x.sock', null), { socketPath: '/run/x.sock' });
  t.same(addressOf('tcp://box:1234', null), { host: 'box', port: 1234, tls: null });
  t.same(addressOf('box:2375', null), { host: 'box', port: 2375, tls: null });
  for (const bad of ['ssh://box', 'npipe:////./pipe/x', 'tcp://']) t.throws(() => addressOf(bad, null), bad);
});

t.test("the image gets this machine's own package sources and no others", async (t) => {
  const targets = [
    'http://deb.example/debian/|bookworm|main',
    'http://deb.example/debian/|bookworm|main',
    'http://deb.example/debian/|bookworm|contrib',
    'http://deb.example/security/|bookworm-security|main',
    'https://node.example/node_20.x|nodistro|main',
    'https://cloud.example/apt|cloud-sdk-bookworm|main',
    'https://docker.example/debian|bookworm|stable',
    '',
  ].join('\n');
  t.same(sourceLines(targets, 'bookworm'), [
    'deb http://deb.example/debian/ bookworm main contrib',
    'deb http://deb.example/security/ bookworm-security main',
  ]);
  t.same(
    sourceLines('http://deb.example/debian/|trixie|main', 'trixie'),
    ['deb http://deb.example/debian/ bookworm main'],
    'of the release that the reference names',
  );
  const dump = [
    'Acquire::Check-Date "false";',
    'Acquire::http::Proxy "http://proxy.example:3128";',
    'Acquire::https::Proxy "http://127.0.0.1:3142";',
    'DPkg::Post-Invoke "rm -rf /";',
  ].join('\n');
  t.same(aptSettings(dump), {
    aptOptions: [
      'Acquire::Languages "none";',
      'Acquire::GzipIndexes "true";',
      'Acquire::Check-Date "false";',
      'Acquire::http::Proxy "http://proxy.example:3128";',
    ],
    env: { https_proxy: 'http://127.0.0.1:3142' },
  });
  const apt = [
    'deb [trusted=yes] http://a.example/x bookworm main',
    'URIs: http://a.example/y https://b.example:8443/',
    '# deb http://commented.example/ bookworm main',
    '  // Acquire::http::Proxy "http://old.example";',
    'Acquire::http::Proxy "http://10.0.0.9:3128";',
    'deb cdrom:[x]/ bookworm main',
  ].join('\n');
  t.same(hostsOf(apt), [
    { name: 'a.example', port: 80 },
    { name: 'b.example', port: 8443 },
    { name: '10.0.0.9', port: 3128 },
  ]);
});

t.test("a container gets at most the machine's processors", async (t) => {
  const asked = (cpuMillicores: number) =>
    createOptions(aSpec('i', { resources: { memoryMb: 512, cpuMillicores, diskMb: 512 } }), SETTINGS)
      .HostConfig?.NanoCpus;
  t.equal(asked(250), 250_000_000);
  t.equal(asked(80_000), 64_000_000_000);
});
