import { randomUUID } from 'node:crypto';
import t from 'tap';
import { UNLIMITED } from '../../../../src/app/identity/account/token-records.ts';
import { FILE_SYSTEM_MB } from '../../../../src/domain/containers/snapshots/snapshot.ts';
import { LEAST_BYTES } from '../../../../src/domain/terminals/recording.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import {
  aNewContainer,
  aNewSnapshot,
  hashOf,
  recordOf,
  storedContainer,
  storedUser,
} from '../../../support/database/stored.ts';

/** Guarantees of the sums for administrators. */
export async function capacityRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { capacity, containers, diskUse, recordings, snapshots, terminals, tokens } = storage.repositories;
  const useOf = async (userId: string) => (await capacity.people()).find((one) => one.userId === userId);

  await t.test(`${name}: a node's sums are those of its live containers`, async (t) => {
    const ada = await storedUser(storage);
    const node = `n-${randomUUID()}`;
    const here = async () => (await capacity.nodes()).find((one) => one.node === node);
    t.equal(await here(), undefined);
    const [runs, stops] = [
      await storedContainer(storage, ada.id, { node }),
      await storedContainer(storage, ada.id, { node }),
    ];
    await containers.insert(aNewContainer(ada.id, { node }));
    await containers.changeState(stops.dbId, ['running'], { state: 'stopped' });
    const one = { memoryMb: 512, cpuMillicores: 500, diskMb: 1024 };
    const times = (n: number) => ({
      memoryMb: n * one.memoryMb,
      cpuMillicores: n * one.cpuMillicores,
      diskMb: n * one.diskMb,
    });
    t.same(await here(), {
      node,
      states: { creating: 1, running: 1, stopped: 1 },
      running: times(2),
      all: times(3),
    });
    t.ok((await capacity.running()).some(({ runtimeId }) => runtimeId === runs.runtimeId));
    t.notOk((await capacity.running()).some(({ runtimeId }) => runtimeId === stops.runtimeId));
    await containers.changeState(runs.dbId, ['running'], { state: 'deleted' });
    t.match(await here(), { states: { creating: 1, stopped: 1 }, running: one, all: times(2) });
  });

  await t.test(`${name}: a user's sums are those of the user's own things`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const nothing = {
      containers: 0,
      running: 0,
      diskUsedMb: 0,
      kept: 0,
      keptMb: 0,
      snapshots: 0,
      snapshotMb: 0,
      recordings: 0,
      recordingBytes: 0,
      terminals: 0,
      tokens: 0,
      lastSeenAt: null,
      limits: { memoryMb: 0, cpuMillicores: 0, diskMb: 0 },
    };
    const names = { username: ada.username, email: ada.email, tier: 'free', maxContainers: 5 };
    t.same(await useOf(ada.id), { userId: ada.id, ...names, ...nothing });
    const before = await capacity.stored();

    const [live, gone] = [await storedContainer(storage, ada.id), await storedContainer(storage, ada.id)];
    await diskUse.record(live.dbId, { usedMb: 30, layerUsedMb: 12 });
    await diskUse.record(gone.dbId, { usedMb: 70, layerUsedMb: 5 });
    await containers.changeState(gone.dbId, ['running'], { state: 'deleted' });
    const sizes = { layerMb: 1, volumeMb: 5 };
    const [kept, deleted] = [aNewSnapshot(live, sizes), aNewSnapshot(live, sizes)];
    for (const each of [kept, deleted]) {
      await snapshots.insert(each);
      await snapshots.settle(each.id, 'ready');
    }
    await snapshots.markDeleted(deleted.id);
    const cast = { id: randomUUID(), userId: ada.id, dbId: live.dbId, containerName: live.name };
    await recordings.insert({ ...cast, connectionId: 'main', cols: 80, rows: 24, replica: randomUUID() });
    const shown = recordOf(ada, live);
    await terminals.insert(shown);
    const token = { userId: ada.id, name: 'ci', prefix: 'svc_01234567', scopes: ['read'] } as const;
    await tokens.insert({ ...token, hash: hashOf(randomUUID()), lifeMs: null, ...UNLIMITED });
    t.match(await useOf(ada.id), {
      containers: 1,
      running: 1,
      diskUsedMb: 42,
      kept: 2,
      keptMb: 70 + 6 + FILE_SYSTEM_MB,
      snapshots: 1,
      snapshotMb: 6 + FILE_SYSTEM_MB,
      recordings: 1,
      recordingBytes: LEAST_BYTES,
      terminals: 1,
      tokens: 1,
      limits: { memoryMb: 512, cpuMillicores: 500, diskMb: 1024 },
    });
    t.match(await useOf(eve.id), nothing, 'and of nobody else');
    const after = await capacity.stored();
    const grown = (of: 'volumes' | 'deletedContainers' | 'snapshots' | 'deletedSnapshots' | 'recordings') =>
      after[of].count - before[of].count;
    t.same(
      [grown('volumes'), grown('deletedContainers'), grown('snapshots'), grown('deletedSnapshots')],
      [1, 1, 1, 1],
    );
    t.equal(grown('recordings'), 1);
    t.equal(after.volumes.usedMb - before.volumes.usedMb, 42);
    t.equal(after.deletedContainers.usedMb - before.deletedContainers.usedMb, 70);
    await terminals.remove([shown.id]);
    t.match(await useOf(ada.id), { terminals: 0 });
  });
}
