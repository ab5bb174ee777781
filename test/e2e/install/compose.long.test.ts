import { cpSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { runOrThrow, which } from '../../../src/adapters/docker/host/host-commands.ts';
import { Berth } from '../../../src/client/index.ts';
import { aFolder } from '../../support/folder.ts';
import { commandsOf } from '../../support/install/commands.ts';
import { aServer, copyCheckout, put, type Server } from '../../support/install/server.ts';
import { eventually, waitFor } from '../../support/patience.ts';
import { signInAdmin } from '../../support/process/running-service.ts';
import { needs } from '../../support/run/infra.ts';

const START_MS = 300_000;
const READY = /Berth is ready.*?\/setup#code=(\S+)/;

/** In place of the images of a registry, which a test must not need. */
const IMAGES = {
  node: `FROM berth/debian:12
COPY bin/ /usr/local/bin/
COPY npm/ /usr/local/lib/node_modules/npm/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
`,
  // What the official image promises: a volume, a socket, a superuser, and no server with an address before the set-up.
  postgres: `FROM berth/debian:12
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends postgresql
ENV PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data
RUN install -d -o postgres -m 0700 $PGDATA && install -d -o postgres -m 3777 /var/run/postgresql
VOLUME /var/lib/postgresql/data
CMD ["sh", "-c", "cd / && [ -s $PGDATA/PG_VERSION ] || initdb -U postgres --auth=$POSTGRES_HOST_AUTH_METHOD && exec postgres"]
USER postgres
`,
};

const SETTINGS = `BERTH_NODE_IMAGE=test/node
BERTH_POSTGRES_IMAGE=test/postgres
BERTH_HOST=0.0.0.0
`;

/** Everything of a Docker that an installation could leave. */
const TRACES = `
docker ps --all --format '{{.Names}}'
docker volume ls --format '{{.Name}}'
docker network ls --format '{{.Name}}'
docker images --format '{{.Repository}}:{{.Tag}}' | grep -v '^<none>'
ip -o link show type bridge | cut -d: -f2
iptables-save | grep -i berth || true`;

/** Its usual minute is too short for the images of a busy machine. */
const COMPOSE = 'COMPOSE_HTTP_TIMEOUT=600 docker-compose --ansi never';

const linesOf = (text: string): ReadonlySet<string> => new Set(text.split('\n'));

/** A server with Docker of its distribution, and these images. */
async function withDocker(t: Test): Promise<Server | null> {
  const engine = await needs(t, 'engine');
  if (engine === null) return null;
  const server = await aServer(t, aFolder(t), ['docker.io', 'docker-compose', 'iptables']);
  const { root, sh } = server;
  const archive = path.join(root, 'root/base.tar');
  await runOrThrow('docker', ['--host', engine.endpoint, 'save', '-o', archive, 'berth/debian:12'], {
    timeoutSeconds: 120,
  });
  await sh('docker load --quiet --input /root/base.tar');
  for (const [name, text] of Object.entries(IMAGES)) put(server, `root/${name}/Dockerfile`, text);
  mkdirSync(path.join(root, 'root/node/bin'));
  cpSync(process.execPath, path.join(root, 'root/node/bin/node'));
  const npm = path.resolve(realpathSync((await which('npm')) ?? ''), '../..');
  cpSync(npm, path.join(root, 'root/node/npm'), { recursive: true, dereference: true });
  for (const name of Object.keys(IMAGES)) await sh(`docker build --quiet --tag test/${name} /root/${name}`);
  return server;
}

type Compose = (words: string) => Promise<string>;

/** Waits for the service's answer, which needs a token of its own. */
const answering = (berth: Berth): Promise<void> =>
  waitFor(
    () =>
      berth.container('dev').then(
        () => true,
        () => false,
      ),
    { everyMs: 200, patienceMs: START_MS, what: 'a new start' },
  );

/** A container with a file, in a new installation. */
async function used(t: Test, server: Server, compose: Compose): Promise<Berth> {
  t.equal(await compose('config --quiet'), '');
  await compose('up --detach --build');
  const logs = await eventually(
    () => compose('logs --no-color berth'),
    (text) => READY.test(text),
    { patienceMs: START_MS, everyMs: 500 },
  );
  const setupCode = READY.exec(logs)?.[1];
  if (setupCode === undefined) throw new Error(`the service is not ready:\n${logs.slice(-4000)}`);
  t.notMatch(logs, /packet filter cannot be set/, 'it isolates containers');
  const address = `http://${server.address}:8080`;
  const berth = new Berth({ server: address, token: await signInAdmin({ address, setupCode }) });
  const box = await berth.create({ name: 'dev', memory_mb: 256, disk_mb: 512 });
  t.match(box.info, { status: 'running', volume: { quota: 'soft' } });
  await box.run('echo kept > canary');
  const reach = `timeout 5 bash -c '< /dev/tcp/${server.address}/8080'`;
  t.not((await box.run(['bash', '-c', reach])).exitCode, 0, 'no container reaches the machine');
  return berth;
}

async function survivesRestart(t: Test, berth: Berth, compose: Compose): Promise<void> {
  const box = await berth.container('dev');
  const since = ['sh', '-c', 'cut -d" " -f22 /proc/1/stat'];
  const { stdout: startedAt } = await box.run(since);
  await compose('restart berth');
  await answering(berth);
  t.equal((await box.run(since)).stdout, startedAt, 'the container never stopped');
}

/** Backs up as the docs say, loses the installation with all containers, and restores it as on a new machine. */
async function survivesLoss(t: Test, { sh }: Server, berth: Berth): Promise<void> {
  const deploy = (block: string): Promise<string> =>
    sh(`cd /opt/berth/docs/deploy\n${block.replaceAll('docker compose', COMPOSE)}`);
  const [backup = '', restore = ''] = commandsOf('backup.md', 'Docker Compose');
  const [, volumes = ''] = commandsOf('backup.md', 'Volumes');
  const lost = commandsOf('install.md', 'Uninstall').at(-1) ?? '';
  const { volume } = (await berth.container('dev')).info;
  const [save = '', refill = ''] = volumes.replaceAll('NAME', volume?.name ?? '').split('\n');
  await deploy(backup);
  await sh(`mkdir /backup; ${save}`);

  await deploy(`docker compose down --volumes\n${lost}`);
  t.equal(await sh('docker ps --all --quiet; docker volume ls --quiet'), '', 'everything is lost');
  await deploy(restore.replace('docker compose stop berth', 'docker compose up --detach database'));
  await answering(berth);
  const box = await berth.container('dev');
  // Its row is that of the backup, until the start has compared it with the engine.
  await waitFor(async () => (await box.refresh()).status === 'stopped', {
    everyMs: 200,
    what: 'the container is there again, and stopped',
  });
  await box.start();
  t.equal((await box.run('ls')).stdout, '', 'a lost volume is empty');
  await sh(refill);
  t.equal((await box.run('cat canary')).stdout, 'kept\n', 'and so are its files');
}

t.test(
  'the compose file serves, restarts without a stop of containers, survives its loss, and is removed without a trace',
  async (t) => {
    const server = await withDocker(t);
    if (server === null) return;
    const { sh } = server;
    const before = linesOf(await sh(TRACES));
    await copyCheckout(server, { built: false });
    put(server, 'opt/berth/docs/deploy/.env', SETTINGS);
    const compose: Compose = (words) => sh(`cd /opt/berth/docs/deploy && ${COMPOSE} ${words} 2>&1`);
    const berth = await used(t, server, compose);
    await survivesRestart(t, berth, compose);
    await survivesLoss(t, server, berth);

    await compose('stop berth');
    t.match(
      await compose('run --rm berth uninstall --yes'),
      /containers \(1\) and volumes \(\d\)[\s\S]*Berth is uninstalled/,
    );
    await compose('down --volumes --rmi all');
    const left = [...linesOf(await sh(TRACES))].filter((line) => !before.has(line));
    t.same(left, []);
  },
);
