import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { type Config, readConfig } from '../../../src/app/main/config.ts';
import {
  addressOf,
  originsOf,
  requireFreePort,
  stepForOthers,
} from '../../../src/app/main/process/listen-address.ts';

const config = (env: NodeJS.ProcessEnv): Config => {
  const read = readConfig(env);
  if ('faults' in read) throw new Error(read.faults.join('; '));
  return read.config;
};

t.test('without settings the service listens on this machine only', async (t) => {
  t.match(config({}), {
    databaseUrl: null,
    busUrl: null,
    dockerHost: null,
    host: '127.0.0.1',
    port: 8080,
    dataDir: path.resolve('.berth'),
    admin: null,
    jwtSecret: null,
    logLevel: 'warn',
    engine: 'auto',
    cluster: { kubeconfig: null, context: null, namespace: null, storageClass: null },
    swarm: { template: 'https://{addr}:2376', byNode: {}, certPath: null, managers: [] },
    diskQuota: 'auto',
    diskFloorMb: null,
    warmPool: 0,
    sshChannels: 64,
  });
  t.same(config({ BERTH_PORT: '', BERTH_HOST: '' }), config({}), 'an empty variable is an unset one');
});

t.test('settings are read with their types', async (t) => {
  const env = {
    BERTH_BUS_URL: 'rediss://berth:p%40ss@redis.example:6380/0',
    BERTH_PORT: '9000',
    BERTH_WARM_POOL: '3',
    BERTH_PUBLIC_URL: 'https://berth.example/',
    BERTH_ALLOWED_ORIGINS: 'https://a.example, http://b.example:81',
    BERTH_TRUST_PROXY: '10.0.0.0/8,::1',
    BERTH_ADMIN_EMAIL: 'root@example.org',
    BERTH_ADMIN_PASSWORD: 'long enough',
    BERTH_DISK_QUOTA: 'hard',
    BERTH_DISK_FLOOR_MB: '2048',
    BERTH_ENGINE_POOL_MB: '20000',
    BERTH_LXCFS: '/var/lib/lxcfs',
    BERTH_PIN_CORES: 'off',
    KUBECONFIG: '/etc/berth/kubeconfig',
    BERTH_KUBERNETES_CONTEXT: 'prod',
    BERTH_KUBERNETES_NAMESPACE: 'berth-containers',
    BERTH_KUBERNETES_STORAGE_CLASS: 'fast',
    DOCKER_CERT_PATH: '/etc/berth/certificates',
    BERTH_SWARM_NODE_URL: 'https://{hostname}.example:2376',
    BERTH_SWARM_NODES: '{"one":"https://10.0.0.1:2376"}',
  };
  t.match(config(env), {
    busUrl: 'rediss://berth:p%40ss@redis.example:6380/0',
    port: 9000,
    warmPool: 3,
    publicUrl: 'https://berth.example',
    allowedOrigins: ['https://a.example', 'http://b.example:81'],
    trustProxy: ['10.0.0.0/8', '::1'],
    admin: { email: 'root@example.org', password: 'long enough' },
    diskQuota: 'hard',
    diskFloorMb: 2048,
    enginePoolMb: 20_000,
    lxcfs: '/var/lib/lxcfs',
    pinsCores: false,
    cluster: {
      kubeconfig: '/etc/berth/kubeconfig',
      context: 'prod',
      namespace: 'berth-containers',
      storageClass: 'fast',
    },
  });
});

t.test('local metrics need a credential once a setting suggests a proxy', async (t) => {
  const proxied = [
    { BERTH_PUBLIC_URL: 'https://berth.example' },
    { BERTH_ALLOWED_ORIGINS: 'https://berth.example' },
    { BERTH_TRUST_PROXY: '127.0.0.1' },
  ];
  t.match(config({}), { localMetrics: true });
  t.match(config({ BERTH_METRICS_LOCAL: 'off' }), { localMetrics: false });
  for (const env of proxied) {
    t.match(config(env), { localMetrics: false }, JSON.stringify(env));
    t.match(config({ ...env, BERTH_METRICS_LOCAL: 'on' }), { localMetrics: true });
  }
});

t.test('all faults are listed at once, and no secret is repeated', async (t) => {
  const read = readConfig({
    DATABASE_URL: 'mysql://x',
    BERTH_BUS_URL: 'redis://berth:my-bus-secret%zz@redis.example',
    DOCKER_HOST: 'nonsense',
    BERTH_PORT: '80x',
    BERTH_PUBLIC_URL: 'https://berth.example/path',
    BERTH_ALLOWED_ORIGINS: 'berth.example',
    BERTH_ADMIN_EMAIL: 'root@example.org',
    BERTH_JWT_SECRET: 'my-short-secret',
    BERTH_LOG_LEVEL: 'loud',
    BERTH_ENGINE: 'podman',
    BERTH_DISK_QUOTA: 'xfs',
    BERTH_DISK_FLOOR_MB: '-1',
    BERTH_ENGINE_POOL_MB: 'much',
    BERTH_TRUST_PROXY: 'abc',
    BERTH_WARM_POOL: '-1',
    BERTH_METRICS_LOCAL: 'yes',
    BERTH_PROT: '8081',
  });
  const faults = 'faults' in read ? read.faults : [];
  t.same(faults.toSorted(), [
    'BERTH_ADMIN_EMAIL and BERTH_ADMIN_PASSWORD must be set together',
    'BERTH_ALLOWED_ORIGINS must be http(s) origins without a path, separated by commas',
    'BERTH_BUS_URL must be a redis:// or rediss:// address, its password percent-encoded',
    'BERTH_DISK_FLOOR_MB must be a whole number of MB',
    'BERTH_DISK_QUOTA must be auto, hard or soft',
    'BERTH_ENGINE must be auto, external, kubernetes or swarm',
    'BERTH_ENGINE_POOL_MB must be a whole number of MB',
    'BERTH_JWT_SECRET must be one or two secrets of at least 32 characters each, separated by a comma',
    'BERTH_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace',
    'BERTH_METRICS_LOCAL must be auto, on or off',
    'BERTH_PORT must be a port from 0 to 65535',
    'BERTH_PROT is not a known setting',
    'BERTH_PUBLIC_URL must be an http(s) origin',
    'BERTH_TRUST_PROXY must be addresses or ranges, separated by commas',
    'BERTH_WARM_POOL must be a number from 0 to 100',
    'DATABASE_URL must be a postgres:// address',
    'DOCKER_HOST must be a unix:// or tcp:// address',
  ]);
  t.notMatch(faults.join(), /my-(short|bus)-secret/);
});

t.test('the service starts in a shell that has settings of the command', async (t) => {
  const read = readConfig({
    BERTH_SERVER: 'http://localhost:8080',
    BERTH_TOKEN: 'svc_a',
    BERTH_PROFILE: 'work',
  });
  t.match(read, { config: { port: Number } });
});

const long = 'x'.repeat(1024);
/** Each setting's valid values, and values just beyond. */
const TAKEN: Readonly<Record<string, { yes: readonly string[]; no: readonly string[]; must: string }>> = {
  BERTH_BUS_URL: {
    yes: ['redis://a', 'rediss://a:6380/', 'redis://:p%40s%2Fs@[::1]:6379/0', 'redis://u:p@a/15'],
    no: [
      'redis:a',
      'http://a',
      'redis://',
      'redis://u:p@s@a',
      'redis://a/b',
      'redis://a:99999',
      'redis://u:%zz@a',
    ],
    must: 'a redis:// or rediss:// address, its password percent-encoded',
  },
  DATABASE_URL: {
    yes: ['postgres://a', 'postgresql://a'],
    no: ['x postgres://a', 'postgres:a'],
    must: 'a postgres:// address',
  },
  DOCKER_HOST: {
    yes: ['unix:///run/docker.sock', 'tcp://a:1', 'http://a', 'https://a'],
    no: ['unix://', 'x unix://a', 'ssh://a'],
    must: 'a unix:// or tcp:// address',
  },
  BERTH_PORT: { yes: ['0', '65535'], no: ['-1', '65536', 'x'], must: 'a port from 0 to 65535' },
  BERTH_WARM_POOL: { yes: ['0', '100'], no: ['-1', '101', 'x'], must: 'a number from 0 to 100' },
  BERTH_SSH_CHANNELS: { yes: ['8', '512'], no: ['7', '513', 'x'], must: 'a number from 8 to 512' },
  BERTH_DISK_FLOOR_MB: { yes: ['0', '1'], no: ['-1', 'x'], must: 'a whole number of MB' },
  BERTH_ENGINE_POOL_MB: { yes: ['0', '1'], no: ['-1', 'x'], must: 'a whole number of MB' },
  BERTH_LXCFS: {
    yes: ['auto', 'off', '/var/lib/lxcfs'],
    no: ['on', 'lxcfs', '/'],
    must: 'auto, off or the folder of an lxcfs on the machine of the engine',
  },
  BERTH_PUBLIC_URL: {
    yes: ['http://a', 'https://a/', 'https://a:1'],
    no: ['https://', 'https://a/b', 'x https://a', 'ftp://a'],
    must: 'an http(s) origin',
  },
  BERTH_ALLOWED_ORIGINS: {
    yes: ['http://a', 'https://a:1,http://b', 'http://a , https://b'],
    no: ['http://', 'http://a/', 'x http://a', 'http://a,', 'http://a,b', 'http://a b'],
    must: 'http(s) origins without a path, separated by commas',
  },
  BERTH_TRUST_PROXY: {
    yes: ['10.0.0.1', '127.0.0.1/32', '::1', 'fe80::/10', '10.0.0.1, ::1'],
    no: ['10.0.0', '10.0.0.1/', '10.0.0.1/1234', '10.0.0.1.1', 'a', 'x 10.0.0.1', '10.0.0.1 ::1', '::1 x'],
    must: 'addresses or ranges, separated by commas',
  },
  BERTH_ENGINE: {
    yes: ['auto', 'external', 'kubernetes', 'swarm'],
    no: ['own'],
    must: 'auto, external, kubernetes or swarm',
  },
  BERTH_SWARM_NODE_URL: {
    yes: ['https://{addr}:2376', 'tcp://{hostname}:2375'],
    no: ['{addr}', 'ftp://{addr}'],
    must: 'an https:// address with {addr}, {hostname} or {id}',
  },
  BERTH_SWARM_NODES: {
    yes: ['{}', '{"one":"https://one:2376"}'],
    no: ['one', '{', '{"one":1}', '{"one":"one"}', '[]'],
    must: 'a JSON object with the addresses of engines, by node id or host name',
  },
  BERTH_KUBERNETES_NAMESPACE: {
    yes: ['a', 'berth-containers'],
    no: ['-a', 'a-', 'A', 'a.b', 'x'.repeat(64)],
    must: 'the name of a namespace',
  },
  BERTH_DISK_QUOTA: { yes: ['auto', 'hard', 'soft'], no: ['off'], must: 'auto, hard or soft' },
  BERTH_METRICS_LOCAL: { yes: ['auto', 'on', 'off'], no: ['true'], must: 'auto, on or off' },
  BERTH_LOG_LEVEL: {
    yes: ['fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    no: ['silent'],
    must: 'one of fatal, error, warn, info, debug, trace',
  },
};

t.test('managers of a Swarm are a list, for a Swarm alone', async (t) => {
  const read = (BERTH_SWARM_MANAGERS: string, more: NodeJS.ProcessEnv = { BERTH_ENGINE: 'swarm' }) => {
    const settings = readConfig({ BERTH_SWARM_MANAGERS, DOCKER_CERT_PATH: '/certificates', ...more });
    return 'faults' in settings ? settings.faults : settings.config.swarm.managers;
  };
  const [one, two] = ['tcp://10.0.0.1:2376', 'unix:///run/docker.sock'];
  t.same(read(`${one} , ${two}`), [one, two]);
  t.same(read(one), [one]);
  t.same(read('', { DOCKER_HOST: one }), [one], 'that of DOCKER_HOST');
  const must = 'BERTH_SWARM_MANAGERS must be tcp:// or unix:// addresses of managers, separated by commas';
  for (const wrong of ['10.0.0.1', `${one},`, `${one} ${two}`, `${one},10.0.0.2`])
    t.same(read(wrong), [must]);
  t.same(read(`${one},${one}`), ['BERTH_SWARM_MANAGERS must not name an address twice']);
  t.same(read('tcp://:1'), ['BERTH_SWARM_MANAGERS: tcp://:1 is not an address']);
  for (const secure of [one, 'https://10.0.0.1'])
    t.same(read(`tcp://10.0.0.3:2375,${secure}`, { BERTH_ENGINE: 'swarm', DOCKER_CERT_PATH: '' }), [
      `BERTH_SWARM_MANAGERS: ${secure} needs DOCKER_CERT_PATH`,
    ]);
  t.same(read(one, {}), ['BERTH_SWARM_MANAGERS needs BERTH_ENGINE=swarm']);
  t.same(read(one, { BERTH_ENGINE: 'swarm', DOCKER_HOST: two }), [
    'DOCKER_HOST and BERTH_SWARM_MANAGERS cannot be set together',
  ]);
});

t.test('each setting accepts values up to its bounds and none beyond', async (t) => {
  const faultsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
    const read = readConfig(env);
    return 'faults' in read ? read.faults : [];
  };
  for (const [name, { yes, no, must }] of Object.entries(TAKEN)) {
    for (const value of yes) t.same(faultsOf({ [name]: value }), [], `${name}=${value}`);
    for (const value of no)
      t.same(faultsOf({ [name]: value }), [`${name} must be ${must}`], `${name}=${value}`);
  }
  const admin = (email: string, password: string) =>
    faultsOf({ BERTH_ADMIN_EMAIL: email, BERTH_ADMIN_PASSWORD: password });
  for (const password of ['x'.repeat(8), long]) t.same(admin('a@b', password), []);
  for (const password of ['x'.repeat(7), `${long}x`])
    t.same(admin('a@b', password), ['BERTH_ADMIN_PASSWORD must be 8 to 1024 characters']);
  for (const email of ['a', 'a@', '@b', 'a@b c', 'a@b@c'])
    t.same(admin(email, long), ['BERTH_ADMIN_EMAIL must be an email address'], email);
  t.same(faultsOf({ BERTH_ADMIN_PASSWORD: long }), [
    'BERTH_ADMIN_EMAIL and BERTH_ADMIN_PASSWORD must be set together',
  ]);
});

t.test('a secret must be long and random, and two must differ', async (t) => {
  const good = 'k3v9Qz7Lw2Rt8Yb5Nc4Xd6Fg1Hj0Mpas';
  const other = good.toLowerCase();
  t.equal(config({ BERTH_JWT_SECRET: good }).jwtSecret, good);
  t.equal(config({ BERTH_JWT_SECRET: `${good},${other}` }).jwtSecret, `${good},${other}`);
  const bad = [
    'x'.repeat(64),
    'changeme'.repeat(8),
    good.slice(1),
    `${good.slice(9)}         `,
    `${good},`,
    `,${good}`,
    `${good},short`,
    `${good},${good}`,
    `${good}, ${good}`,
    `${good},${other},${good}x`,
  ];
  for (const secret of bad) {
    const read = readConfig({ BERTH_JWT_SECRET: secret });
    const faults = 'faults' in read ? read.faults : [];
    t.equal(faults.length, 1, secret);
    t.match(faults[0], /^BERTH_JWT_SECRET must (be one or two secrets|be random: `|contain two different)/);
    t.notMatch(faults[0], secret.slice(0, 20));
  }
});

t.test('a taken or impossible port is refused, naming the setting', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  await t.rejects(requireFreePort('127.0.0.1', port), {
    message: `port ${port} is in use: set BERTH_PORT to a free one`,
  });
  await t.rejects(requireFreePort('192.0.2.1', port), {
    message: `cannot listen on 192.0.2.1:${port} (EADDRNOTAVAIL): check BERTH_HOST and BERTH_PORT`,
  });
  await requireFreePort('127.0.0.1', 0);
});

t.test('only the printed address and its loopback names may open sockets', async (t) => {
  for (const host of ['0.0.0.0', '::', '127.0.0.1', '::1'])
    t.equal(addressOf(host, 80), 'http://localhost:80', 'browsers make passkeys for this name alone');
  t.equal(addressOf('192.0.2.1', 80), 'http://192.0.2.1:80');
  t.equal(addressOf('2001:db8::1', 80), 'http://[2001:db8::1]:80');
  t.same(originsOf('http://127.0.0.1:8080'), [
    'http://127.0.0.1:8080',
    'http://127.0.0.1:8080',
    'http://localhost:8080',
  ]);
  t.same(originsOf('https://berth.example'), [
    'https://berth.example',
    'https://127.0.0.1',
    'https://localhost',
  ]);
});

t.test('the operator learns what others need to reach the service', async (t) => {
  for (const host of ['127.0.0.1', 'localhost', '::1'])
    t.match(stepForOthers(host, null), /Only this machine/);
  for (const host of ['0.0.0.0', '::', '192.0.2.1']) t.match(stepForOthers(host, null), /without https/);
  t.equal(stepForOthers('127.0.0.1', 'https://berth.example.org'), null, 'a proxy is in front');
});
