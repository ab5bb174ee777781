import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { INSTANCE_LABEL, networkName } from '../../../src/adapters/docker/engine/engine-names.ts';
import { run } from '../../../src/adapters/docker/host/host-commands.ts';
import { shortHash } from '../../../src/adapters/docker/network/subnet.ts';
import { engineAt } from '../../support/engine/engine.ts';
import { installationOf } from '../../support/engine/instance.ts';
import { small } from '../../support/process/fault-scene.ts';
import { anInstallation, client, signInAdmin, startService } from '../../support/process/running-service.ts';

t.test('uninstalling removes what the installation has made, and nothing else', async (t) => {
  const installation = await anInstallation(t);
  if (installation === null) return;
  const { dataDir } = installation;
  const uninstall = (...args: string[]) =>
    spawnSync(process.execPath, ['dist/app/main/bin/berth.js', 'uninstall', ...args], {
      env: { ...process.env, ...installation.env },
      encoding: 'utf8',
    });
  const running = await startService(t, installation);
  const call = client(running.address, await signInAdmin(running));
  await call('POST', '/api/containers', { name: 'dev', ...small });
  const id = await installationOf(dataDir, undefined);
  t.match(uninstall('--yes'), { status: 1, stderr: /Berth is running: stop it first/ });
  await running.stop();

  writeFileSync(path.join(dataDir, 'mine.txt'), 'kept');
  const asked = uninstall();
  t.match(asked, { status: 1, stderr: /Nothing was removed/ }, 'without a terminal nobody can confirm');
  t.match(asked.stdout, /containers \(1\) and volumes \(\d\) in the engine, with all files/);
  t.ok(existsSync(path.join(dataDir, 'secret.json')));

  t.match(uninstall('--yes'), { status: 0, stdout: /is uninstalled[\s\S]*Not from Berth.*: mine\.txt/ });
  t.same(readdirSync(dataDir), ['mine.txt']);
  const { docker } = await engineAt(installation.env['DOCKER_HOST'] ?? '');
  const filters = JSON.stringify({ label: [`${INSTANCE_LABEL}=${id}`] });
  t.same(await docker.listContainers({ all: true, filters }), []);
  t.same((await docker.listVolumes({ filters })).Volumes ?? [], []);
  t.same(await docker.listNetworks({ filters: JSON.stringify({ name: [networkName(id)] }) }), []);
  t.notMatch((await run('iptables-save', [])).stdout, `BERTH-${shortHash(id)}`);
});
