import { readdirSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../src/adapters/docker/host/host-commands.ts';
import { eventually } from '../support/patience.ts';
import {
  aQuickInstallation,
  client,
  type Installation,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';
import { checkSnapshotsAndForks } from '../support/process/snapshots.ts';

const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

type Call = ReturnType<typeof client>;

/** Image files below the data folder that are attached to loop devices. */
async function attached({ dataDir }: Installation): Promise<readonly string[]> {
  const { stdout } = await run('losetup', ['-n', '-O', 'BACK-FILE']);
  return stdout.split('\n').filter((line) => line.trim().startsWith(dataDir));
}

/** Those still attached when the kernel has had time: it releases a device after the container's last process ends. */
const leftAttached = (installation: Installation) =>
  eventually(
    () => attached(installation),
    (images) => images.length === 0,
  );

async function sh(call: Call, dbId: string, script: string): Promise<string> {
  const { body } = await call('POST', `/api/containers/${dbId}/exec`, { command: ['sh', '-c', script] });
  return `${body['stdout']}${body['stderr']}`.trim();
}

async function signedIn(t: Test, installation: Installation): Promise<Running & { readonly call: Call }> {
  const running = await startService(t, installation);
  return { ...running, call: client(running.address, await signInAdmin(running)) };
}

t.test('an enforced size survives a full disk, a resize, a kill and a lost mount', async (t) => {
  const installation = await aQuickInstallation(t, { BERTH_DISK_QUOTA: 'auto' });
  if (installation === null) return;
  const first = await signedIn(t, installation);
  const { call } = first;
  const ready = (await call('GET', '/readyz')).body as { parts: { disk: { detail: string } } };
  const { detail } = ready.parts.disk;
  t.match(ready.parts.disk, { status: 'ready', detail: /^(hard|soft)/ });
  const copying = () =>
    t.test('snapshots and forks of a running container', (t) => checkSnapshotsAndForks(t, call));
  if (!detail.startsWith('hard: each')) {
    await copying();
    return void t.pass('images', { skip: detail });
  }

  const made = (await call('POST', '/api/containers', { name: 'dev', ...small })).body;
  t.match(made, { status: 'running', volume: { size_mb: 512, quota: 'hard' } });
  const dbId = made['db_id'] as string;
  const url = `/api/containers/${dbId}`;
  await sh(call, dbId, 'echo kept > canary');
  t.match(
    await sh(call, dbId, 'fallocate -l 400M fill; dd if=/dev/zero of=rest bs=1M'),
    'No space left on device',
  );
  t.equal((await call('GET', '/livez')).status, 200);
  const grown = await call('PATCH', url, { name: 'dev', ...small, disk_mb: 1024 });
  t.match(grown.body, { restarted: true, container: { volume: { size_mb: 1024, quota: 'hard' } } });
  t.equal(await sh(call, dbId, 'cat canary; fallocate -l 200M more; echo $?'), 'kept\n0');
  const shrunk = await call('PATCH', url, { name: 'dev', ...small });
  t.match([shrunk.status, shrunk.body], [400, { fields: { disk_mb: /must be at least/ } }]);
  await sh(call, dbId, 'rm more fill rest');
  t.equal((await call('PATCH', url, { name: 'dev', ...small })).status, 200);
  t.equal(await sh(call, dbId, 'cat canary'), 'kept');

  await first.stop('SIGKILL');
  const second = await signedIn(t, installation);
  t.equal(await sh(second.call, dbId, 'cat canary'), 'kept', 'it went on through the kill');
  await second.call('POST', `${url}/stop`);
  t.same(await leftAttached(installation), []);
  t.equal((await second.call('POST', `${url}/start`)).status, 200);
  t.equal(await sh(second.call, dbId, 'cat canary'), 'kept');
  t.equal((await second.call('DELETE', url)).status, 200);
  t.same(await leftAttached(installation), [], 'nothing is held for a container that is gone');
  t.equal(
    readdirSync(path.join(installation.dataDir, 'volumes')).includes(`ws-${dbId}.img`),
    true,
    'but its data is there',
  );
  t.equal((await second.call('POST', `${url}/restore`)).status, 200);
  await second.call('POST', `${url}/start`);
  t.equal(await sh(second.call, dbId, 'cat canary'), 'kept');
  await second.call('DELETE', url);
  await t.test('snapshots and forks of a running container', (t) => checkSnapshotsAndForks(t, second.call));
  await second.stop();
  const ofSnapshots = (await attached(installation)).filter((image) => image.includes('snap-'));
  t.same(ofSnapshots, [], 'no volume of a snapshot stays attached');
  const mounted = (await run('findmnt', ['-rno', 'TARGET'])).stdout;
  t.notMatch(mounted, `ws-${dbId}`, 'no mount is left');
});
