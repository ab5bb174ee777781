import path from 'node:path';
import t from 'tap';
import { type Config, readConfig } from '../../../src/app/main/config.ts';
import { addressOf, originsOf } from '../../../src/app/main/process/listen-address.ts';

const config = (env: NodeJS.ProcessEnv): Config => {
  const read = readConfig(env);
  if ('faults' in read) throw new Error(read.faults.join('; '));
  return read.config;
};

t.test('without any setting the service is for this machine only', async (t) => {
  t.match(config({}), {
    databaseUrl: null,
    dockerHost: null,
    host: '127.0.0.1',
    port: 8080,
    dataDir: path.resolve('.berth'),
    admin: null,
    jwtSecret: null,
    logLevel: 'warn',
    engine: 'auto',
    diskQuota: 'auto',
    diskFloorMb: null,
    warmPool: 0,
  });
  t.same(config({ BERTH_PORT: '', BERTH_HOST: '' }), config({}), 'an empty variable is an unset one');
});

t.test('settings are read with their types', async (t) => {
  const env = {
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
  };
  t.match(config(env), {
    port: 9000,
    warmPool: 3,
    publicUrl: 'https://berth.example',
    allowedOrigins: ['https://a.example', 'http://b.example:81'],
    trustProxy: ['10.0.0.0/8', '::1'],
    admin: { email: 'root@example.org', password: 'long enough' },
    diskQuota: 'hard',
    diskFloorMb: 2048,
    enginePoolMb: 20_000,
  });
});

t.test('metrics need a credential on this machine, too, once anything tells of a proxy', async (t) => {
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

t.test('every fault is told at once, and no secret is repeated', async (t) => {
  const read = readConfig({
    DATABASE_URL: 'mysql://x',
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
  const named = faults.map((fault) => fault.split(' ', 1)[0]);
  t.same(named.sort(), [
    'BERTH_ADMIN_EMAIL',
    'BERTH_ALLOWED_ORIGINS',
    'BERTH_DISK_FLOOR_MB',
    'BERTH_DISK_QUOTA',
    'BERTH_ENGINE',
    'BERTH_ENGINE_POOL_MB',
    'BERTH_JWT_SECRET',
    'BERTH_LOG_LEVEL',
    'BERTH_METRICS_LOCAL',
    'BERTH_PORT',
    'BERTH_PROT',
    'BERTH_PUBLIC_URL',
    'BERTH_TRUST_PROXY',
    'BERTH_WARM_POOL',
    'DATABASE_URL',
    'DOCKER_HOST',
  ]);
  t.notMatch(faults.join(), 'my-short-secret');
});

t.test('a secret is long and random; two of them differ', async (t) => {
  const good = 'k3v9Qz7Lw2Rt8Yb5Nc4Xd6Fg1Hj0Mpas';
  const other = good.toLowerCase();
  t.equal(config({ BERTH_JWT_SECRET: good }).jwtSecret, good);
  t.equal(config({ BERTH_JWT_SECRET: `${good},${other}` }).jwtSecret, `${good},${other}`);
  const bad = [
    'x'.repeat(64),
    'changeme'.repeat(8),
    good.slice(1),
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
    t.match(faults[0], /^BERTH_JWT_SECRET must /);
    t.notMatch(faults[0], secret.slice(0, 20));
  }
});

t.test('the printed address and its loopback names may open sockets, and nothing else', async (t) => {
  t.equal(addressOf('0.0.0.0', 80), 'http://127.0.0.1:80');
  t.equal(addressOf('::1', 80), 'http://[::1]:80');
  t.same(originsOf('http://127.0.0.1:8080'), [
    'http://127.0.0.1:8080',
    'http://127.0.0.1:8080',
    'http://localhost:8080',
  ]);
  t.same(originsOf('https://berth.example')[0], 'https://berth.example');
});
