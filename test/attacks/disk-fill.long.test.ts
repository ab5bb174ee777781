import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { dockerAccess } from '../../src/adapters/docker/container-access.ts';
import { dockerRuntime } from '../../src/adapters/docker/containers/container-runtime.ts';
import { runtimeSettings } from '../../src/adapters/docker/containers/runtime-settings.ts';
import { missingEnginePackages } from '../../src/adapters/docker/engine/host-packages.ts';
import { ensureNetwork } from '../../src/adapters/docker/network/instance-network.ts';
import { openEngine } from '../../src/adapters/docker/private-engine/open-engine.ts';
import { layoutOf } from '../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { chooseDiskQuota } from '../../src/adapters/docker/volumes/choose-quota.ts';
import type { MemoryState } from '../../src/adapters/memory/memory-state.ts';
import { pollUntil } from '../../src/concurrency/poll.ts';
import { noEngineOfOurOwn, tinyImage } from '../support/engine/engine.ts';
import { silentLog } from '../support/samples/samples.ts';
import { aPerson, aService, as } from '../support/service/service.ts';

const MIB = 1024 * 1024;
const POOL_MB = 800;
const ALLOWED_MB = 100;
const PROGRAMS =
  'bash cat chmod chown dd env fallocate grep head id kill ls mkdir mv rm sed setsid sleep tr wc';
const small = { memory_mb: 256, cpu_shares: 500, disk_mb: 512 };

/** A service with its own small engine. */
async function aScene(t: Test) {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-fill-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const common = { dataDir, progress: () => {}, log: silentLog };
  const engine = await openEngine({ ...common, mode: 'auto', dockerHost: null, poolMb: POOL_MB });
  if (engine.kind !== 'private') throw new Error(engine.mend ?? 'not an engine of our own');
  t.teardown(() => engine.stop());
  await tinyImage(engine.docker, 'berth/debian:12', PROGRAMS.split(' '));
  const instanceId = randomUUID();
  const network = await ensureNetwork(engine, { instanceId, log: silentLog });
  const { disk } = await chooseDiskQuota(engine, {
    ...common,
    setting: 'auto',
    instanceId,
    mayInstall: false,
  });
  t.teardown(async () => disk.images?.close());
  const settings = await runtimeSettings(engine.docker, { instanceId, network: network.name, node: 'test' });
  const runtime = dockerRuntime(engine.docker, { ...settings, disk });
  const access = dockerAccess(engine.docker, instanceId);
  const service = await aService({ runtime, ...access, runtimeNode: 'test' });
  const { state } = service.ports.storage as unknown as { state: MemoryState };
  state.tiers = state.tiers.map((tier) => ({ ...tier, layerMb: ALLOWED_MB }));
  const person = async (name: string) => {
    const call = as(service, await aPerson(service, name));
    const made = await call('POST', '/api/containers', { name: 'dev', ...small });
    const url = `/api/containers/${made.json().db_id}`;
    const sh = (script: string) =>
      call('POST', `${url}/exec`, { command: ['sh', '-c', script], timeout_seconds: 60 });
    return { made, call, url, sh, dbId: made.json().db_id as string };
  };
  const { dataRoot, pool } = layoutOf(dataDir);
  const freeMb = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(dataRoot);
    return (bavail * bsize) / MIB;
  };
  return { service, state, person, freeMb, dataDir, dataRoot, pool };
}

async function filling(t: Test): Promise<void> {
  const { service, state, person, freeMb, dataDir, dataRoot, pool } = await aScene(t);
  const [mallory, eve] = [await person('mallory'), await person('eve')];
  t.equal(mallory.made.statusCode, 201, mallory.made.body);
  t.match((await eve.sh('echo mine > /kept; echo here')).json(), { exit_code: 0, stdout: 'here\n' });
  await mallory.sh('echo work > /workspace/work');
  await service.watchSpace();

  const attack = mallory.sh(
    `fallocate -l ${POOL_MB}M /fill; while :; do dd if=/dev/zero of=/more$((i += 1)) bs=64k count=16; done`,
  );
  t.ok(await pollUntil(async () => (await freeMb()) < 10, { withinMs: 60_000 }), 'there is no room left');
  const [image, data, database] = await Promise.all([stat(pool), stat(dataRoot), stat(dataDir)]);
  t.not(data.dev, database.dev, 'what was filled is not the file system of the database');
  t.ok(image.size <= POOL_MB * MIB && image.blocks * 512 <= POOL_MB * MIB, 'it has no more than its own');

  await service.watchSpace();
  const stopped = (await mallory.call('GET', mallory.url)).json();
  t.match(stopped, { status: 'stopped', status_reason: /outside \/workspace: \d+ of 100 MB/ });
  t.match(state.audit.at(-1), { action: 'container_stopped', userAgent: 'berth', details: mallory.dbId });
  t.match(state.events.at(-1), { type: 'container_stopped', data: { db_id: mallory.dbId } });
  await attack;
  t.ok((await freeMb()) > 100, 'the room is free again');

  t.match((await eve.sh('echo more >> /kept; cat /kept')).json(), { stdout: 'mine\nmore\n' });
  t.equal((await person('grace')).made.statusCode, 201, 'another container can be made');
  const started = await mallory.call('POST', `${mallory.url}/start`);
  t.match(started.json(), { recreated: true, volume_kept: true });
  t.match((await mallory.sh('cat /workspace/work; ls /fill')).json(), { stdout: 'work\n' });
}

const reason = (await noEngineOfOurOwn()) ?? ((await missingEnginePackages()).join(', ') || null);
if (reason !== null) t.pass('an engine of our own', { skip: reason });
else await t.test('a container that fills its layer harms only its own work', filling);
