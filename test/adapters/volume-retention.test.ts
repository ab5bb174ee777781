import { type Kysely, sql } from 'kysely';
import t, { type Test } from 'tap';
import { fixedClock, memoryRuntime, memoryStorage } from '../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import type { Database } from '../../src/adapters/postgres/schema.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import type { ContainerInsight } from '../../src/ports/container-insight.ts';
import {
  type ContainerRuntime,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../src/ports/container-runtime.ts';
import type { Storage } from '../../src/ports/repositories.ts';
import { type Age, volumeRetentionContract } from '../contract/volume-retention.ts';
import { freshDatabase } from '../support/database.ts';
import { engineOrSkip, testInstance } from '../support/engine.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { randomName } from '../support/stored.ts';

type Engine = { readonly runtime: ContainerRuntime; readonly insight?: ContainerInsight };
type World = { readonly storage: Storage; readonly age: Age; readonly engine: () => Engine };

const WEEK = 7 * 24;
const limits = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

function inMemory(): World {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  const older = (at: Date | null | undefined, hours: number) =>
    at == null ? at : new Date(at.getTime() - hours * 3_600_000);
  const age: Age = async (dbId, hours) => {
    const { state } = storage;
    state.containers = state.containers.map((one) =>
      one.dbId === dbId ? { ...one, deletedAt: older(one.deletedAt, hours) ?? null } : one,
    );
    const volume = Object.entries(state.volumes.get(dbId) ?? {});
    const aged = volume.map(([key, at]) => [key, older(at, hours)]);
    if (volume.length > 0) state.volumes.set(dbId, Object.fromEntries(aged));
  };
  return { storage, age, engine: () => ({ runtime: memoryRuntime() }) };
}

const ageIn =
  (db: Kysely<Database>): Age =>
  async (dbId, hours) => {
    const by = sql`make_interval(secs => ${hours * 3600})`;
    await sql`update containers set deleted_at = deleted_at - ${by},
      volume_condemned_at = volume_condemned_at - ${by}, volume_claimed_at = volume_claimed_at - ${by}
      where db_id = ${dbId}`.execute(db);
  };

const aDatabase = (t: Test, url: string): Kysely<Database> => {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  return db;
};

const [url, engine] = [await freshDatabase(t), await engineOrSkip(t)];
const instance = engine && (await testInstance(t, engine));

const memory = inMemory();
await volumeRetentionContract('memory', memory.storage, memory.age);
await t.test('memory', (t) => collecting(t, inMemory()));

if (url !== null) {
  const db = aDatabase(t, url);
  const world = {
    storage: postgresStorage(db),
    age: ageIn(db),
    engine: () => ({ runtime: memoryRuntime() }),
  };
  await volumeRetentionContract('postgres', world.storage, world.age);
  await t.test('postgres', (t) => collecting(t, world));
  if (instance !== null) {
    const real = { ...world, engine: () => instance };
    await t.test('postgres and a real engine', (t) => collecting(t, real));
  }
}

/** A deleted container with a volume and a private image, and the services that may collect them. */
async function aDeletedBox({ storage, engine }: World) {
  const { runtime, insight } = engine();
  const ports = { storage, runtime, runtimeNode: 'test', ...(insight === undefined ? {} : { insight }) };
  const service = await aService(ports);
  const call = as(service, await aPerson(service, randomName()));
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
    service,
    dbId,
    runtime,
    audited,
    exists: () => runtime.volumeExists(box.volume.name),
    restore: () => call('POST', `${url}/restore`),
    images: async () => (await runtime.capturedImages()).filter((one) => one.dbId === dbId).length,
  };
}

async function collecting(t: Test, world: World): Promise<void> {
  const { age } = world;

  await t.test('the volume goes in two steps, with the private image, and is on record', async (t) => {
    const box = await aDeletedBox(world);
    const { service, dbId } = box;
    for (const hours of [0, WEEK - 1, 1, 23.9]) {
      await age(dbId, hours);
      await service.collectVolumes();
      t.ok(await box.exists(), `${hours} hours more`);
    }
    t.equal(await box.audited(), 0);
    await service.reconcile();
    t.equal(await box.images(), 1);
    await age(dbId, 0.2);
    await service.collectVolumes();
    t.notOk(await box.exists());
    t.equal((await box.restore()).statusCode, 404);
    await service.collectVolumes();
    t.equal(await box.audited(), 1, 'once');
    await service.reconcile();
    t.equal(await box.images(), 0);
  });

  await t.test('a restore between the steps saves it', async (t) => {
    const box = await aDeletedBox(world);
    await age(box.dbId, WEEK);
    await box.service.collectVolumes();
    t.equal((await box.restore()).statusCode, 200);
    await age(box.dbId, 100 * WEEK);
    await box.service.collectVolumes();
    t.ok(await box.exists());
    t.equal(await box.audited(), 0);
  });

  await t.test('a process that dies between the removal and the record is followed by another', async (t) => {
    const box = await aDeletedBox(world);
    const { dbId } = box;
    await age(dbId, WEEK);
    await box.service.collectVolumes();
    await age(dbId, 24);
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
      await age(dbId, 0.2);
    }
    t.notOk(await box.exists());
    const others = [await aService(box.ports), await aService(box.ports)];
    await Promise.all(others.map((one) => one.collectVolumes()));
    t.equal(await box.audited(), 1);
  });

  await t.test('a volume that something uses stays; a silent engine is waited for', async (t) => {
    const box = await aDeletedBox(world);
    const { dbId, runtime } = box;
    await age(dbId, WEEK);
    await box.service.collectVolumes();
    await age(dbId, 24);
    const faults = [
      { list: async () => Promise.reject(new RuntimeUnavailable('down')) },
      { removeVolume: async () => Promise.reject(new RuntimeFailure('volume is in use', 409)) },
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
      await age(dbId, 0.2);
    }
    await box.service.collectVolumes();
    t.notOk(await box.exists());
    t.equal(await box.audited(), 1);
  });
}
