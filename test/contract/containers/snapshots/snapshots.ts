import { randomUUID } from 'node:crypto';
import t from 'tap';
import { FILE_SYSTEM_MB } from '../../../../src/domain/containers/snapshots/snapshot.ts';
import type { NewSnapshot } from '../../../../src/ports/containers/snapshots/snapshot-repository.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { aNewSnapshot, NOBODY, storedContainer, storedUser } from '../../../support/database/stored.ts';
import { anOperation } from '../operations.ts';

const DAY_S = 86_400;
/** What `aNewSnapshot` counts. */
const ONE_MB = 40 + FILE_SYSTEM_MB;

/** Guarantees of stored snapshots and their removal. `pass` ages their rows by so many seconds. */
export async function snapshotRepositoryContract(
  name: string,
  storage: Storage,
  pass: (seconds: number) => Promise<void>,
): Promise<void> {
  const { snapshots, deletedSnapshots, snapshotRetention: retention, operations } = storage.repositories;
  const aBox = async () => {
    const { id: ownerId } = await storedUser(storage);
    const { dbId } = await storedContainer(storage, ownerId);
    return { ownerId, dbId };
  };
  const taken = async (fresh: NewSnapshot) => {
    await snapshots.insert(fresh);
    await snapshots.settle(fresh.id, 'ready');
    return fresh;
  };
  const claimed = async (days = 7) => {
    await retention.review(days);
    return (await retention.claim(days)).map(({ id }) => id);
  };

  await t.test(`${name}: a snapshot is stored, completed and settled once`, async (t) => {
    const fresh = aNewSnapshot(await aBox());
    const made = await snapshots.insert(fresh);
    t.match(made, { ...fresh, state: 'creating', layerImage: null, layerChanges: null, deletedAt: null });
    const changes = { packages: [], packageCount: 0, files: [], layerBytes: 7, complete: true };
    const progress = { layerImage: 'berth/snapshot:layer', layerChanges: changes, layerMb: 11, volumeMb: 31 };
    await snapshots.record(fresh.id, progress);
    await snapshots.record(fresh.id, { volumeMb: 32 });
    t.match(await snapshots.settle(fresh.id, 'ready'), { ...progress, volumeMb: 32, state: 'ready' });
    t.equal(await snapshots.settle(fresh.id, 'failed'), null);
    t.match(await snapshots.find(fresh.id, fresh.ownerId), { state: 'ready' });
    t.equal(await snapshots.find(fresh.id, NOBODY), null, 'not as that of another user');
    t.ok((await retention.images()).has('berth/snapshot:layer'));
  });

  await t.test(`${name}: a container is being paused from the intent to the operation's end`, async (t) => {
    const box = await aBox();
    const fresh = aNewSnapshot(box);
    await snapshots.insert(fresh);
    const [owner, runtimeId, other] = [randomUUID(), randomUUID(), randomUUID()];
    const usual = anOperation(box.dbId, box.ownerId, owner);
    const before = { ...usual.before, runtimeId };
    const snapshot = { id: fresh.id, hasPaused: false, hasVolume: false };
    await operations.begin({ ...usual, kind: 'snapshot', before, snapshot }, 60);
    t.notOk(await operations.isPausing(runtimeId));
    await operations.record(usual.id, owner, { snapshot: { ...snapshot, hasPaused: true } });
    t.ok(await operations.isPausing(runtimeId));
    t.notOk(await operations.isPausing(other));
    await operations.finish(usual.id, owner, 'done');
    t.notOk(await operations.isPausing(runtimeId));
  });

  await t.test(`${name}: a name is an owner's once, among those that are there`, async (t) => {
    const box = await aBox();
    const one = await taken(aNewSnapshot(box, { name: 'base' }));
    await t.rejects(snapshots.insert(aNewSnapshot(box, { name: 'base' })), { name: 'SnapshotNameTaken' });
    await snapshots.insert(aNewSnapshot(await aBox(), { name: 'base' }));
    await snapshots.insert(aNewSnapshot(box, { name: 'base', forkIds: [randomUUID()] }));
    await snapshots.markDeleted(one.id);
    const failed = aNewSnapshot(box, { name: 'base' });
    await snapshots.insert(failed);
    await snapshots.settle(failed.id, 'failed');
    await snapshots.insert(aNewSnapshot(box, { name: 'base' }));
  });

  await t.test(`${name}: lists and use leave out what does not count`, async (t) => {
    const box = await aBox();
    const [old, young, gone, ofFork, failed] = [
      await taken(aNewSnapshot(box)),
      await taken(aNewSnapshot(box)),
      await taken(aNewSnapshot(box)),
      await taken(aNewSnapshot(box, { forkIds: [NOBODY] })),
      await snapshots.insert(aNewSnapshot(box)),
    ];
    await snapshots.markDeleted(gone.id);
    await snapshots.settle(failed.id, 'failed');
    const ids = (await snapshots.list(box.ownerId)).map(({ id }) => id);
    t.same(ids, [failed.id, young.id, old.id]);
    t.same(await snapshots.use(box.ownerId), {
      count: 2,
      liveMb: 3 * ONE_MB,
      deletedCount: 1,
      deletedMb: ONE_MB,
    });
    for (const { id } of [gone, ofFork]) {
      t.equal(await snapshots.find(id, box.ownerId), null);
      t.match(await snapshots.findAny(id), { id });
    }
    t.same((await snapshots.findAny(ofFork.id))?.forkIds, [NOBODY]);
    await snapshots.markDeletedOf(box.ownerId);
    t.same(await snapshots.list(box.ownerId), []);
  });

  await t.test(`${name}: a deleted one is restored until it is given up or being removed`, async (t) => {
    const box = await aBox();
    const [kept, given, other] = [
      await taken(aNewSnapshot(box)),
      await taken(aNewSnapshot(box)),
      await taken(aNewSnapshot(box)),
    ];
    const ids = async () => (await deletedSnapshots.list(box.ownerId)).map(({ id }) => id);
    const failed = await snapshots.insert(aNewSnapshot(box));
    await snapshots.settle(failed.id, 'failed');
    await snapshots.markDeleted(given.id);
    await pass(1);
    for (const { id } of [kept, failed]) await snapshots.markDeleted(id);
    t.same(await ids(), [kept.id, given.id], 'the last deleted first');
    t.equal(await deletedSnapshots.findForUpdate(other.id, box.ownerId), null);
    t.equal(await deletedSnapshots.findForUpdate(kept.id, NOBODY), null);
    t.match(await deletedSnapshots.findForUpdate(kept.id, box.ownerId), { id: kept.id, deletedAt: Date });
    await t.rejects(deletedSnapshots.restore(kept.id, other.name), { name: 'SnapshotNameTaken' });
    await retention.giveUp(box.ownerId, { mb: 1, count: 0 });
    t.same(await ids(), [kept.id]);
    await pass(8 * DAY_S);
    await claimed();
    t.match(await deletedSnapshots.restore(kept.id, 'again'), {
      id: kept.id,
      name: 'again',
      deletedAt: null,
    });
    await pass(2 * DAY_S);
    t.notOk((await claimed()).includes(kept.id), 'its condemnation is undone too');
    await snapshots.markDeleted(kept.id);
    await pass(8 * DAY_S);
    await claimed();
    await pass(2 * DAY_S);
    t.ok((await claimed()).includes(kept.id));
    t.same(await ids(), [], 'a process removes it');
  });

  await t.test(`${name}: a deleted one is condemned after the retention, gone a day later`, async (t) => {
    const kept = await taken(aNewSnapshot(await aBox()));
    await snapshots.markDeleted(kept.id);
    t.notOk((await claimed()).includes(kept.id));
    await pass(8 * DAY_S);
    t.notOk((await claimed()).includes(kept.id), 'condemned');
    await claimed(30);
    await pass(2 * DAY_S);
    t.notOk((await claimed()).includes(kept.id), 'a longer retention has spared it');
    await pass(2 * DAY_S);
    const both = await Promise.all([claimed(), claimed()]);
    t.equal(both.flat().filter((id) => id === kept.id).length, 1);
    await retention.review(30);
    const isRestorable = async () =>
      (await deletedSnapshots.list(kept.ownerId)).some(({ id }) => id === kept.id);
    t.notOk(await isRestorable(), 'not while a process removes it');
    await pass(DAY_S / 100);
    await retention.review(30);
    t.notOk(await isRestorable(), 'nor after a removal that failed: it may be gone');
    t.ok((await claimed()).includes(kept.id));
    t.ok(await retention.markRemoved(kept.id));
    t.notOk(await retention.markRemoved(kept.id));
    t.same(await snapshots.use(kept.ownerId), { count: 0, liveMb: 0, deletedCount: 0, deletedMb: 0 });
  });

  await t.test(`${name}: failed ones and those of made forks are due at once, none in use`, async (t) => {
    const box = await aBox();
    const [failed, ofFork] = [aNewSnapshot(box), aNewSnapshot(box, { forkIds: [NOBODY] })];
    for (const one of [failed, ofFork]) await snapshots.insert(one);
    const owner = randomUUID();
    const work = {
      ...anOperation(box.dbId, box.ownerId, owner),
      snapshot: { id: ofFork.id, hasPaused: true, hasVolume: false },
    };
    await operations.begin(work, 60);
    t.match(await operations.active(box.dbId), { snapshot: work.snapshot });
    await snapshots.settle(failed.id, 'failed');
    await snapshots.settle(ofFork.id, 'ready');
    t.same(await claimed(), [failed.id]);
    await operations.record(work.id, owner, { snapshot: { ...work.snapshot, hasVolume: true } });
    t.match(await operations.find(work.id), { snapshot: { hasVolume: true } });
    await operations.finish(work.id, owner, 'done');
    t.same(await claimed(), [ofFork.id]);
    t.same(await claimed(), [], 'not again before it is overdue');
  });

  await t.test(`${name}: the first deleted ones are given up, as many as needed`, async (t) => {
    const box = await aBox();
    const all = [];
    for (let n = 0; n < 6; n += 1) all.push(await taken(aNewSnapshot(box)));
    for (const { id } of all.slice(0, 5)) await snapshots.markDeleted(id);
    t.same(await retention.giveUp(box.ownerId, { mb: 0, count: 0 }), []);
    t.same(
      (await retention.giveUp(box.ownerId, { mb: ONE_MB + 1, count: 0 })).toSorted(),
      all
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    );
    t.same(await snapshots.use(box.ownerId), {
      count: 1,
      liveMb: ONE_MB,
      deletedCount: 3,
      deletedMb: 3 * ONE_MB,
    });
    t.equal((await retention.giveUp(box.ownerId, { mb: 1, count: 2 })).length, 2, 'by number');
    t.match(await snapshots.use(box.ownerId), { deletedCount: 1 });
    t.same(
      (await claimed()).toSorted(),
      all
        .slice(0, 4)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  await t.test(`${name}: the row of a removed one goes with the history`, async (t) => {
    const removed = await taken(aNewSnapshot(await aBox()));
    await snapshots.markDeleted(removed.id);
    await retention.giveUp(removed.ownerId, { mb: 1, count: 0 });
    await claimed();
    await retention.markRemoved(removed.id);
    await pass(29 * DAY_S);
    const forget = () => storage.repositories.history.forget('snapshots', 30, 1000);
    await forget();
    t.match(await snapshots.findAny(removed.id), { id: removed.id });
    await pass(2 * DAY_S);
    await forget();
    t.equal(await snapshots.findAny(removed.id), null);
  });
}
