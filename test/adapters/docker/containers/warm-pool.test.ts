import t, { type Test } from 'tap';
import { containerName } from '../../../../src/adapters/docker/containers/container-names.ts';
import { memoryStorage } from '../../../../src/adapters/memory/index.ts';
import { warmPoolEngineContract } from '../../../contract/containers/warm-pool.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { poolOf } from '../../../support/engine/warm-pool.ts';
import { aPerson, aService, as } from '../../../support/service/service.ts';

const MIB = 1024 * 1024;
const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await warmPoolEngineContract('docker', { ...instance, absent: 'berth/absent:1' });
  await t.test('a create is given a container like any other', (t) => given(t, instance));
}

async function given(t: Test, instance: TestInstance): Promise<void> {
  const { docker, runtime, image } = instance;
  const clock = { now: () => new Date() };
  const storage = memoryStorage(clock);
  const debian = { key: 'debian', label: 'Debian', reference: image, digest: null, shell: '/bin/bash' };
  Object.assign(storage.state, { images: [debian] });
  const service = await aService(
    { storage, runtime, warmPool: instance.warmPool, runtimeNode: 'test', clock },
    { warmPoolSize: 1 },
  );
  t.teardown(() => service.warmPool.stop());
  service.warmPool.soon();
  const [dbId] = await poolOf(storage, 1);
  await service.reconcile();
  const call = as(service, await aPerson(service, 'ada'));
  const asked = { memory_mb: 768, cpu_shares: 700, disk_mb: 1024 };
  const made = await call('POST', '/api/containers', { name: 'dev', ...asked });
  t.equal(made.statusCode, 201);
  t.match(made.json(), { db_id: dbId, status: 'running', resources: asked, volume: { name: `ws-${dbId}` } });

  const other = await runtime.create(
    aSpec(image, { resources: { memoryMb: 768, cpuMillicores: 700, diskMb: 1024 } }),
  );
  const [warm, cold] = await Promise.all(
    [made.json().id, other.runtimeId].map((id: string) => docker.getContainer(id).inspect()),
  );
  if (warm === undefined || cold === undefined) throw new Error('not there');
  t.match(warm.State, { Running: true });
  t.match(warm.HostConfig, { Memory: 768 * MIB, MemorySwap: 768 * MIB, NanoCpus: 700_000_000 });
  const { Mounts: _warmMounts, ...warmHost } = warm.HostConfig;
  const { Mounts: _coldMounts, ...coldHost } = cold.HostConfig;
  t.same(warmHost, coldHost, 'confined like one that was made for the request, on the same network');
  t.match(warm.Mounts, [{ Type: 'volume', Name: `ws-${dbId}`, Destination: '/workspace' }]);
  t.equal(warm.Name, `/${containerName(instance.instanceId, dbId ?? '', 1)}`);
  t.same(
    Object.keys(warm.Config.Labels)
      .filter((label) => label.startsWith('berth.') && label !== 'berth.base')
      .sort(),
    ['berth.db_id', 'berth.disk_mb', 'berth.generation', 'berth.instance'],
  );
  t.match(warm.Config.Labels, { 'berth.instance': instance.instanceId, 'berth.db_id': dbId });

  const sum = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max';
  const command = ['sh', '-c', `hostname -s; ${sum}; echo kept > /workspace/file`];
  const ran = await call('POST', `/api/containers/${dbId}/exec`, { command });
  t.equal(ran.json().stdout, `workspace\n${768 * MIB}\n`, 'the kernel has the limits too');
  const patched = await call('PATCH', `/api/containers/${dbId}`, { name: 'dev', ...asked, memory_mb: 512 });
  t.match(patched.json(), { restarted: true });
  const read = await call('POST', `/api/containers/${dbId}/exec`, { command: ['cat', '/workspace/file'] });
  t.match(read.json(), { stdout: 'kept\n' }, 'a recreate finds the volume');
}
