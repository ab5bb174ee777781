import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { Berth } from '../../../src/client/index.ts';
import { aFolder } from '../../support/folder.ts';
import { commandsOf } from '../../support/install/commands.ts';
import { aServer, copyCheckout, put, type Release, type Server } from '../../support/install/server.ts';
import { type Traces, tracesOf, tracesSince } from '../../support/install/traces.ts';
import { eventually, waitFor } from '../../support/patience.ts';
import { signInAdmin } from '../../support/process/running-service.ts';

/** Packages, and the base image. */
const FIRST_START_MS = 900_000;
const READY = /Berth is ready.*?http:\/\/[^/\s]+(?:\/setup#code=(\S+))?/;
const SETTINGS = 'BERTH_HOST=0.0.0.0\n';
/** A change of one's own. As little as possible: the disk of the test is small. */
const DROP_IN = '[Service]\nEnvironment=BERTH_ENGINE_POOL_MB=2000\n';

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

/** By the command of the docs, without a terminal. */
function onTheService({ sh }: Server, words: string): Promise<string> {
  const [block = ''] = commandsOf('install.md', 'Commands on the service');
  const command = block.replace('--pty', '--quiet --pipe').replace('audit verify', words);
  return sh(`PATH="$(echo /opt/berth/node_modules/node-linux-*/bin):$PATH"\n${command}`);
}

async function installed(t: Test, release: Release): Promise<{ server: Server; before: Traces }> {
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

  t.match(await onTheService(server, 'audit verify'), /the audit is intact/);
  t.match(
    await onTheService(server, 'uninstall </dev/null || echo "=$?"'),
    /all containers and their files[\s\S]*=1$/,
    'it asks',
  );
  t.match(
    await onTheService(server, 'uninstall --yes'),
    /Berth is uninstalled.[\s\S]*apt-get purge --autoremove docker.io/,
  );
  t.same(await tracesSince(server, before), []);
}

for (const release of ['bookworm', 'trixie'] as const)
  t.test(
    `the unit of systemd serves, survives a kill, stops and is uninstalled without a trace on ${release}`,
    (t) => usedAndUninstalled(t, release),
  );
