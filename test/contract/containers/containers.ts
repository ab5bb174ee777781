import { randomBytes } from 'node:crypto';
import t from 'tap';
import { NameTaken } from '../../../src/ports/containers/container-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import {
  aNewContainer,
  NOBODY,
  ownContainers,
  randomName,
  storedContainer,
  storedUser,
} from '../../support/database/stored.ts';

const changes = {
  packages: [{ manager: 'apt', name: 'jq', version: '1.6', change: 'added', automatic: false }],
  packageCount: 1,
  files: [],
  layerBytes: 12_345,
  complete: true,
} as const;

/** Guarantees of stored containers. */
export async function containerRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { containers, deletedContainers, diskUse, layerImages } = storage.repositories;
  const byDbId = (dbId: string) => ({ kind: 'db_id', dbId }) as const;
  const byRuntimeId = (prefix: string) => ({ kind: 'runtime_id', prefix }) as const;

  await t.test(`${name}: a new container is stored as given, without an engine container`, async (t) => {
    const owner = await storedUser(storage);
    const asked = aNewContainer(owner.id);
    const inserted = await containers.insert(asked);
    t.same(inserted, await containers.findAny(asked.dbId), 'it returns the row');
    const found = await containers.findOwned(byDbId(asked.dbId), owner.id);
    t.match(found, {
      ...asked,
      ownerUsername: owner.username,
      state: 'creating',
      stateReason: null,
      generation: 1,
      runtimeId: null,
      startedAt: null,
      lastUsedAt: null,
      deletedAt: null,
    });
    t.same(await containers.findAny(asked.dbId), found);
  });

  await t.test(
    `${name}: a container is found by its row id, its runtime id or 12 digits of it`,
    async (t) => {
      const owner = await storedUser(storage);
      const box = await storedContainer(storage, owner.id);
      const id = box.runtimeId ?? '';
      for (const ref of [byDbId(box.dbId), byRuntimeId(id), byRuntimeId(id.slice(0, 12))]) {
        t.same(await containers.findOwned(ref, owner.id), box);
      }
      for (const ref of [
        byDbId(NOBODY),
        byRuntimeId(id.slice(1)),
        byRuntimeId(randomBytes(32).toString('hex')),
      ]) {
        t.equal(await containers.findOwned(ref, owner.id), null);
      }
      t.equal(await containers.findOwned({ kind: 'agent', agentId: box.dbId }, owner.id), null);
    },
  );

  await t.test(`${name}: another user's container looks unknown`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const box = await storedContainer(storage, ada.id);
    t.equal(await containers.findOwned(byDbId(box.dbId), eve.id), null);
    t.equal(await containers.findOwned(byRuntimeId(box.runtimeId ?? ''), eve.id), null);
    t.same(await ownContainers(storage, eve.id), []);
    t.equal(await containers.countLive(eve.id), 0);
    t.equal(await containers.nameInUse(eve.id, box.name), false);
  });

  await t.test(`${name}: an owner's live names differ, also under concurrency`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const called = randomName();
    const made = await Promise.allSettled(
      Array.from({ length: 6 }, () => containers.insert(aNewContainer(ada.id, { name: called }))),
    );
    t.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    t.ok(made.every((one) => one.status === 'fulfilled' || one.reason instanceof NameTaken));
    await containers.insert(aNewContainer(eve.id, { name: called }));
    t.equal(await containers.nameInUse(ada.id, called), true);
    const other = await storedContainer(storage, ada.id);
    const rename = containers.changeState(other.dbId, ['running'], { state: 'running', name: called });
    await t.rejects(rename, NameTaken);
    const [first] = (await ownContainers(storage, ada.id)).filter((one) => one.name === called);
    await containers.changeState(first?.dbId ?? '', ['creating'], { state: 'deleted' });
    await containers.insert(aNewContainer(ada.id, { name: called }));
  });

  await t.test(`${name}: a state changes only from an expected one, with its other fields`, async (t) => {
    const owner = await storedUser(storage);
    const box = await storedContainer(storage, owner.id);
    t.type(box.startedAt, Date);
    t.equal(await containers.changeState(box.dbId, ['stopped', 'failed'], { state: 'running' }), null);
    t.equal(await containers.changeState(NOBODY, ['running'], { state: 'stopped' }), null);
    const stopped = await containers.changeState(box.dbId, ['running'], {
      state: 'stopped',
      reason: 'disk full',
    });
    t.match(stopped, { state: 'stopped', stateReason: 'disk full', runtimeId: box.runtimeId });
    const resources = { memoryMb: 1024, cpuMillicores: 100, diskMb: 2048 };
    const change = { state: 'starting', generation: 2, node: 'other', resources } as const;
    t.match(await containers.changeState(box.dbId, ['stopped'], change), {
      ...change,
      stateReason: null,
      name: box.name,
    });
    t.match(await containers.findOwned(byDbId(box.dbId), owner.id), change);
  });

  await t.test(`${name}: of concurrent state changes, one succeeds`, async (t) => {
    const box = await storedContainer(storage, (await storedUser(storage)).id);
    const done = await Promise.all(
      Array.from({ length: 6 }, () => containers.changeState(box.dbId, ['running'], { state: 'stopping' })),
    );
    t.equal(done.filter((one) => one !== null).length, 1);
  });

  await t.test(`${name}: its room outside its volume is what its owner's tier says now`, async (t) => {
    const owner = await storedUser(storage);
    const box = await storedContainer(storage, owner.id);
    const allowed = async (tier: string) => (await storage.repositories.catalogue.tier(tier))?.layerMb;
    const [free, pro] = [await allowed('free'), await allowed('pro')];
    t.not(free, pro);
    t.equal(box.layerAllowedMb, free);
    await storage.repositories.users.change(owner.id, { tier: 'pro' });
    const seen = [
      await containers.findOwned(byDbId(box.dbId), owner.id),
      await containers.findAny(box.dbId),
      ...(await ownContainers(storage, owner.id)),
      ...(await containers.listAllLive()).filter(({ dbId }) => dbId === box.dbId),
      ...(await diskUse.claimDue(50, 1_000)).filter(({ dbId }) => dbId === box.dbId),
      await storage.repositories.roleSetups.findForUpdate(box.dbId),
      await containers.changeState(box.dbId, ['running'], { state: 'deleted' }),
      ...(await deletedContainers.listRestorable(owner.id)),
      await deletedContainers.findForUpdate(box.dbId, owner.id),
    ];
    t.same(
      seen.map((one) => one?.layerAllowedMb),
      seen.map(() => pro),
    );
    t.equal(seen.length, 9);
  });

  await t.test(`${name}: lists have the newest first, and the reconciler's has all owners`, async (t) => {
    const owner = await storedUser(storage);
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) made.unshift((await storedContainer(storage, owner.id)).dbId);
    const listed = await ownContainers(storage, owner.id);
    t.same(new Set(listed.map(({ dbId }) => dbId)), new Set(made));
    const times = listed.map(({ createdAt }) => createdAt.getTime());
    t.same(
      times,
      [...times].sort((a, b) => b - a),
    );
    const all = await containers.listAllLive();
    t.ok(made.every((dbId) => all.some((one) => one.dbId === dbId)));
  });

  await t.test(`${name}: a use is stored`, async (t) => {
    const owner = await storedUser(storage);
    const asked = aNewContainer(owner.id);
    await containers.insert(asked);
    await containers.touch(asked.dbId);
    t.type((await containers.findAny(asked.dbId))?.lastUsedAt, Date);
    await containers.touch(NOBODY);
  });

  await t.test(`${name}: a container uses its last private image, until that is removed`, async (t) => {
    const { dbId } = await storedContainer(storage, (await storedUser(storage)).id);
    t.equal(await layerImages.find(dbId), null);
    t.equal(await layerImages.find(NOBODY), null);
    const [first, second] = [`carried-${dbId}:g2`, `carried-${dbId}:g3`];
    await layerImages.put(dbId, { image: first, changes });
    t.same(await layerImages.find(dbId), { image: first, changes });
    await layerImages.put(dbId, { image: second, changes: null });
    t.same(await layerImages.find(dbId), { image: second, changes: null });
    t.notOk((await layerImages.inUse()).has(first));
    t.ok((await layerImages.inUse()).has(second));
    await layerImages.put(dbId, null);
    await layerImages.put(dbId, null);
    t.equal(await layerImages.find(dbId), null);
    t.notOk((await layerImages.inUse()).has(second));
  });

  await t.test(`${name}: what is known of a volume is kept, and looked for once at a time`, async (t) => {
    const owner = await storedUser(storage);
    const box = await storedContainer(storage, owner.id);
    t.match(box, { diskQuota: 'soft', diskUsedMb: null });
    await diskUse.record(box.dbId, { quota: 'hard' });
    t.match(await containers.findAny(box.dbId), { diskQuota: 'hard', diskUsedMb: null });
    await diskUse.record(box.dbId, { usedMb: 51_200 });
    t.match(await containers.findAny(box.dbId), { diskQuota: 'hard', diskUsedMb: 51_200 });
    await diskUse.record(box.dbId, { layerUsedMb: 700 });
    t.match(await containers.findAny(box.dbId), { diskUsedMb: 51_200, layerUsedMb: 700 });
    await containers.changeState(box.dbId, ['running'], { state: 'running', runtimeId: 'f'.repeat(64) });
    t.match(await containers.findAny(box.dbId), { layerUsedMb: null }, 'another one has written nothing');
    const idle = await storedContainer(storage, owner.id);
    await containers.changeState(idle.dbId, ['running'], { state: 'stopped' });
    const claims = await Promise.all([1, 2, 3].map(() => diskUse.claimDue(50, 1_000)));
    const claimed = claims.flat().map(({ dbId }) => dbId);
    t.equal(claimed.filter((dbId) => dbId === box.dbId).length, 1);
    t.notOk(claimed.includes(idle.dbId), 'only running ones');
    const seen = claims.flat().find(({ dbId }) => dbId === box.dbId);
    t.match(seen, { ownerUsername: owner.username, diskUsedMb: 51_200 });
    const pair = [await storedContainer(storage, owner.id), await storedContainer(storage, owner.id)];
    const one = await diskUse.claimDue(50, 1);
    const rest = await diskUse.claimDue(50, 1_000);
    t.equal(one.length, 1, 'not more than wanted');
    t.same(new Set([...one, ...rest].map(({ dbId }) => dbId)), new Set(pair.map(({ dbId }) => dbId)));
    const late = await storedContainer(storage, owner.id);
    // All are due: their last measurement is older than the next second.
    t.match(await diskUse.claimDue(-1, 1), [{ dbId: late.dbId }], 'one that was never measured comes first');
  });
}
