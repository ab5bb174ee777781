import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { readConfig, SETTINGS } from '../../src/app/main/config.ts';

const read = (name: string): string => readFileSync(`docs/deploy/${name}`, 'utf8');

/** Variables of the build alone. */
const OF_THE_BUILD = new Set(['BERTH_NODE_IMAGE', 'BERTH_POSTGRES_IMAGE']);

t.test('the deployments set only settings that exist', async (t) => {
  for (const name of ['berth.service', 'berth.env', 'compose.yaml', 'Dockerfile']) {
    const settings = [...read(name).matchAll(/\bBERTH_[A-Z_]+/g)].map(([setting]) => setting);
    const given = settings.filter((setting) => !OF_THE_BUILD.has(setting)).map((setting) => [setting, 'x']);
    const result = readConfig(Object.fromEntries(given));
    const unknown = 'faults' in result ? result.faults.filter((fault) => /known setting/.test(fault)) : [];
    t.same(unknown, [], name);
    t.not(settings.length, 0);
  }
  t.match(readConfig({ BERTH_NOPE: 'x' }), { faults: [/known setting/] }, 'others are noticed');
});

/** Settings that the deployment decides, and those of a private engine or a cluster. */
const OF_COMPOSE = [
  'BERTH_DATA_DIR',
  'BERTH_DISK_QUOTA',
  'BERTH_ENGINE',
  'BERTH_ENGINE_POOL_MB',
  'BERTH_KUBERNETES_CONTEXT',
  'BERTH_KUBERNETES_NAMESPACE',
  'BERTH_KUBERNETES_STORAGE_CLASS',
  'BERTH_LXCFS',
  'BERTH_PIN_CORES',
  'BERTH_SWARM_MANAGERS',
  'BERTH_SWARM_NODES',
  'BERTH_SWARM_NODE_URL',
  'DOCKER_CERT_PATH',
  'KUBECONFIG',
];

t.test('the compose file passes every other setting on, and none is refused for being empty', async (t) => {
  const passed = [...read('compose.yaml').matchAll(/^ {6}([A-Z_]+): (.*)$/gm)].map(([, name = '']) => name);
  const others = Object.keys(SETTINGS).filter((name) => !passed.includes(name));
  t.same(others.toSorted(), OF_COMPOSE);
  const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']));
  t.same(readConfig(empty), readConfig({}));
});

t.test('docs/running.md lists every setting with its default', async (t) => {
  const rows = readFileSync('docs/running.md', 'utf8').matchAll(/^\| (`[A-Z].*?`) \| (.*?) \|/gm);
  const listed = [...rows].flatMap(([, names = '', usual]) =>
    [...names.matchAll(/[A-Z_]+/g)].map(([name]) => [name, usual] as const),
  );
  t.same(listed.map(([name]) => name).toSorted(), Object.keys(SETTINGS).toSorted());
  for (const [name, usual] of listed) {
    const expected = SETTINGS[name]?.default;
    if (expected !== undefined) t.equal(usual, `\`${expected}\``, name);
  }
});

t.test('the unit has the form that systemd reads', async (t) => {
  const lines = read('berth.service').split('\n');
  const other = lines.filter((line) => !/^(#.*|\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=.+|)$/.test(line));
  t.same(other, []);
  // Where systemd is there, its own judgement too.
  const { error, stdout, stderr } = spawnSync('systemd-analyze', ['verify', 'docs/deploy/berth.service'], {
    encoding: 'utf8',
  });
  if (error === undefined) t.equal(stdout + stderr, '');
});

t.test('the service stops within what systemd and Docker wait', async (t) => {
  const within = /STOP_WITHIN_MS = (\d+)_000/.exec(readFileSync('src/app/main/process/exit.ts', 'utf8'))?.[1];
  const waits = [
    /^TimeoutStopSec=(\d+)$/m.exec(read('berth.service'))?.[1],
    ...[...read('compose.yaml').matchAll(/stop_grace_period: (\d+)s/g)].map(([, seconds]) => seconds),
  ];
  t.equal(waits.length, 3);
  for (const seconds of waits) t.ok(Number(seconds) > Number(within), `${seconds} s`);
});

t.test('the image is built from files that its context has', async (t) => {
  const kept = readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm);
  const given = [...kept].map(([, name]) => name).toSorted();
  const copies = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
  t.same([...new Set(copies.flatMap(([, names = '']) => names.split(' ')))].toSorted(), given);
});

t.test(
  'the proxies lead to the usual port by the name of the settings, and keep the metrics to the machine',
  async (t) => {
    const nginx = readFileSync('docs/nginx/berth.conf', 'utf8');
    const caddy = read('Caddyfile');
    const port = SETTINGS['BERTH_PORT']?.default;
    const name = /^BERTH_PUBLIC_URL=https:\/\/(\S+)$/m.exec(read('berth.env'))?.[1];

    const groups = [...nginx.matchAll(/^upstream (\w+) \{\n(?:.*\n)*?\}/gm)];
    const used = [...nginx.matchAll(/proxy_pass http:\/\/(\w+);/g)].map(([, group]) => group);
    t.same(groups.map(([, group]) => group).toSorted(), used.toSorted());
    for (const [group] of groups) t.match(group, `  server 127.0.0.1:${port} max_fails=`);
    t.match(nginx, /proxy_set_header X-Forwarded-For \$remote_addr;/);
    t.match(nginx, /location = \/metrics \{\n {4}return 404;/);
    t.same(new Set([...nginx.matchAll(/server_name (\S+);/g)].map(([, each]) => each)), new Set([name]));

    t.match(caddy, `\n${name} {\n`);
    t.match(caddy, `reverse_proxy 127.0.0.1:${port} {`);
    t.match(caddy, '\n\trespond /metrics 404\n');
  },
);

t.test(
  "the packages can be installed by Debian 13's npm, which takes no other name in an override",
  async (t) => {
    const { devDependencies, overrides } = JSON.parse(readFileSync('package.json', 'utf8'));
    const versions = Object.values<Record<string, string>>(overrides).flatMap(Object.values);
    t.same(
      versions.filter((version) => !/^[\d.]+$/.test(version)),
      [],
    );
    t.match(devDependencies.typescript, new RegExp(`@${overrides['openapi-typescript'].typescript}$`));
  },
);
