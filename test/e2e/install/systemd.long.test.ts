import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { Berth } from '../../../src/client/index.ts';
import { aFolder } from '../../support/folder.ts';
import { aServer, copyCheckout, put, type Release, type Server } from '../../support/install/server.ts';
import { eventually, waitFor } from '../../support/patience.ts';
import { signInAdmin } from '../../support/process/running-service.ts';

/** Packages, and the base image. */
const FIRST_START_MS = 900_000;
const READY = /Berth is ready.*?http:\/\/[^/\s]+(?:\/setup#code=(\S+))?/;
const SETTINGS = 'BERTH_HOST=0.0.0.0\n';
/** A change of one's own. As little as possible: the disk of the test is small. */
const DROP_IN = '[Service]\nEnvironment=BERTH_ENGINE_POOL_MB=2000\n';

/** What a private engine and the service change on a machine, in lines. */
const TRACES = `
getent passwd | cut -d: -f1; getent group | cut -d: -f1; cat /etc/subuid /etc/subgid
ip -o link show | cut -d: -f2 | sed 's/@.*//'
cut -d' ' -f5 /proc/self/mountinfo | grep -v '^/proc/sys/fs/binfmt_misc'
ls -d /etc/berth /etc/systemd/system/* /var/lib/berth /var/cache/berth /run/berth* /tmp/berth* 2>/dev/null
ls /etc/systemd/system/*.wants
iptables-save 2>/dev/null | grep -i berth
ps -eo comm | grep -E 'node|postgres|dockerd|containerd' || true`;

/** The group of docker.io, and the units of e2fsprogs. */
const OF_PACKAGES = /^(docker|e2scrub_.*)$/;

const tracesOf = async ({ sh }: Server): Promise<ReadonlySet<string>> =>
  new Set((await sh(`set +e; ${TRACES}`)).split('\n'));

const journal = ({ sh }: Server): Promise<string> => sh('journalctl --unit=berth --no-pager --output=cat');

/** By the journal; returns the set-up code of the first start. */
async function ready(server: Server, patienceMs?: number): Promise<string | null> {
  const isReady = (text: string): boolean => READY.test(text) || /Berth did not start/.test(text);
  const text = await eventually(() => journal(server), isReady, {
    everyMs: 500,
    ...(patienceMs !== undefined && { patienceMs }),
  });
  const found = READY.exec(text);
  if (found === null) throw new Error(`the service is not ready:\n${text.slice(-4000)}`);
  return found[1] ?? null;
}

async function installed(
  t: Test,
  release: Release,
): Promise<{ server: Server; before: ReadonlySet<string> }> {
  const server = await aServer(t, aFolder(t), [], release);
  const before = await tracesOf(server);
  await copyCheckout(server, { built: true });
  put(server, 'etc/berth/berth.env', SETTINGS);
  put(server, 'etc/systemd/system/berth.service', readFileSync('docs/deploy/berth.service', 'utf8'));
  put(server, 'etc/systemd/system/berth.service.d/override.conf', DROP_IN);
  t.equal(await server.sh('systemd-analyze verify /etc/systemd/system/berth.service 2>&1'), '');
  await server.sh('systemctl daemon-reload; systemctl enable --now berth');
  return { server, before };
}

async function usedAndUninstalled(t: Test, release: Release): Promise<void> {
  const { server, before } = await installed(t, release);
  const { sh } = server;
  const setupCode = await ready(server, FIRST_START_MS);
  const address = `http://${server.address}:8080`;
  const berth = new Berth({ server: address, token: await signInAdmin({ address, setupCode }) });

  const box = await berth.create({ name: 'dev', memory_mb: 256, disk_mb: 512 });
  t.match(box.info, { status: 'running', volume: { quota: 'hard' } });
  const since = ['sh', '-c', 'echo kept > canary; cut -d" " -f22 /proc/1/stat'];
  const { stdout: startedAt } = await box.run(since);
  t.match(
    (await box.run(['sh', '-c', 'apt-get update -qq 2>&1; echo "=$?"'])).stdout,
    /=0\n/,
    'it has a network',
  );

  await sh('systemctl kill --kill-whom=main --signal=KILL berth');
  await waitFor(async () => (await sh('systemctl show --property=NRestarts --value berth')) === '1', {
    everyMs: 200,
  });
  await waitFor(
    () =>
      berth.container('dev').then(
        () => true,
        () => false,
      ),
    { everyMs: 200, what: 'a new start' },
  );
  t.equal((await box.run(since)).stdout, startedAt, 'the container never stopped');

  await sh('systemctl stop berth');
  t.match(await sh('systemctl show --property=Result,ExecMainStatus berth'), /Result=success/);
  t.match(await sh('systemctl show --property=ExecMainStatus --value berth'), '0', 'in order, and in time');

  const uninstall = [
    'systemd-run --quiet --pipe --wait --collect -p EnvironmentFile=/etc/berth/berth.env',
    '-p WorkingDirectory=/opt/berth -E BERTH_DATA_DIR=/var/lib/berth',
    '/opt/berth/node_modules/node-linux-*/bin/node dist/app/main/bin/berth.js uninstall',
  ].join(' ');
  t.match(
    await sh(`${uninstall} </dev/null || echo "=$?"`),
    /all containers and their files[\s\S]*=1$/,
    'it asks',
  );
  t.match(await sh(`${uninstall} --yes`), /Berth is uninstalled.[\s\S]*apt-get purge --autoremove docker.io/);
  const left = [...(await tracesOf(server))].filter((line) => !before.has(line));
  t.same(
    left.filter((line) => !OF_PACKAGES.test(line)),
    [],
  );
}

for (const release of ['bookworm', 'trixie'] as const)
  t.test(
    `the unit of systemd serves, survives a kill, stops and is uninstalled without a trace on ${release}`,
    (t) => usedAndUninstalled(t, release),
  );
