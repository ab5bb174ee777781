import t from 'tap';
import { fixedClock, memoryRuntime, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { RuntimeFailure, RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';
import { ageVolumeIn } from '../../support/engine/volume-age.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';

const WEEK = 7 * 24;
const limits = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

/** A deleted container with a volume and a private image, and the services that may collect them. */
async function aDeletedBox() {
  const storage = memoryStorage(fixedClock());
  const runtime = memoryRuntime();
  const ports = { storage, runtime, runtimeNode: 'test' };
  const service = await aService(ports);
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', ...limits })).json();
  const url = `/api/containers/${box.db_id}`;
  await call('PATCH', url, { name: 'dev', ...limits, memory_mb: 512, carry_over: true });
  await call('DELETE', url);
  const dbId: string = box.db_id;
  const audited = async (): Promise<number> => {
    const { records } = (await call('GET', '/api/audit')).json();
    return records.filter(
      (one: { action: string; details: string }) => one.action === 'volume_removed' && one.details === dbId,
    ).length;
  };
  return {
    ports,
    pass: (hours: number) => ageVolumeIn(storage)(dbId, hours),
    service,
    dbId,
    runtime,
    audited,
    exists: () => runtime.volumeExists(box.volume.name),
    restore: () => call('POST', `${url}/restore`),
    images: async () => (await runtime.snapshotImages()).filter((one) => one.dbId === dbId).length,
  };
}

t.test('the volume goes in two steps, with the private image, and is on record', async (t) => {
  const box = await aDeletedBox();
  const { service } = box;
  for (const hours of [0, WEEK - 1, 1, 23.9]) {
    await box.pass(hours);
    await service.collectVolumes();
    t.ok(await box.exists(), `${hours} hours more`);
  }
  t.equal(await box.audited(), 0);
  await service.reconcile();
  t.equal(await box.images(), 1);
  await box.pass(0.2);
  await service.collectVolumes();
  t.notOk(await box.exists());
  t.equal((await box.restore()).statusCode, 404);
  await service.collectVolumes();
  t.equal(await box.audited(), 1, 'once');
  await service.reconcile();
  t.equal(await box.images(), 0);
});

t.test('a restore between the steps saves it', async (t) => {
  const box = await aDeletedBox();
  await box.pass(WEEK);
  await box.service.collectVolumes();
  t.equal((await box.restore()).statusCode, 200);
  await box.pass(100 * WEEK);
  await box.service.collectVolumes();
  t.ok(await box.exists());
  t.equal(await box.audited(), 0);
});

t.test('a process that dies between the removal and the record is followed by another', async (t) => {
  const box = await aDeletedBox();
  await box.pass(WEEK);
  await box.service.collectVolumes();
  await box.pass(24);
  for (const point of ['collect before remove_volume', 'collect after remove_volume']) {
    let dead = (): void => {};
    const died = new Promise<void>((resolve) => {
      dead = resolve;
    });
    const checkpoint = async (name: string): Promise<void> => {
      if (name !== point) return;
      dead();
      await new Promise(() => {});
    };
    const dying = await aService(box.ports, { checkpoint });
    void dying.collectVolumes();
    await died;
    await box.service.collectVolumes();
    t.equal(await box.audited(), 0, 'not while it may still be at it');
    t.equal((await box.restore()).statusCode, 404, 'nor can it be restored any more');
    await box.pass(0.2);
  }
  t.notOk(await box.exists());
  const others = [await aService(box.ports), await aService(box.ports)];
  await Promise.all(others.map((one) => one.collectVolumes()));
  t.equal(await box.audited(), 1);
});

t.test('a volume that something uses stays; a silent engine is waited for', async (t) => {
  const box = await aDeletedBox();
  const { dbId, runtime } = box;
  await box.pass(WEEK);
  await box.service.collectVolumes();
  await box.pass(24);
  const faults = [
    { list: async () => Promise.reject(new RuntimeUnavailable('down')) },
    { removeVolume: async () => Promise.reject(new RuntimeFailure('volume is in use')) },
    {
      list: async () => [
        { dbId, generation: 9, state: 'stopped' as const, handle: { node: 'test', runtimeId: 'a' } },
      ],
    },
  ];
  for (const fault of faults) {
    const service = await aService({ ...box.ports, runtime: { ...runtime, ...fault } });
    await t.resolves(service.collectVolumes());
    t.ok(await box.exists());
    t.equal(await box.audited(), 0);
    await box.pass(0.2);
  }
  await box.service.collectVolumes();
  t.notOk(await box.exists());
  t.equal(await box.audited(), 1);
});
