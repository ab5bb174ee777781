import t from 'tap';
import type { Storage } from '../../src/ports/repositories.ts';
import { NOBODY, storedContainer, storedUser } from '../support/stored.ts';

/** Makes what was done to the row, if anything, older by so many hours. */
export type Age = (dbId: string, hours: number) => Promise<void>;

const WEEK = 7 * 24;

/** What keeping volumes of deleted containers must guarantee. */
export async function volumeRetentionContract(name: string, storage: Storage, age: Age): Promise<void> {
  const { containers, retention } = storage.repositories;
  const deleted = async () => {
    const box = await storedContainer(storage, (await storedUser(storage)).id);
    await containers.changeState(box.dbId, ['running'], { state: 'deleted' });
    return box;
  };
  const condemned = async () => {
    const box = await deleted();
    await age(box.dbId, WEEK);
    await retention.review(7);
    return box;
  };
  const claimed = async (days = 7) => (await retention.claim(days)).map(({ dbId }) => dbId);

  await t.test(`${name}: a volume is due a day after its retention was found to be over`, async (t) => {
    const { dbId, ownerId, volume } = await deleted();
    await age(dbId, WEEK - 1);
    await retention.review(7);
    await age(dbId, 1);
    t.same(await claimed(), [], 'not before it is condemned');
    await retention.review(7);
    await age(dbId, 23);
    t.same(await claimed(), []);
    await age(dbId, 1);
    t.same(await retention.claim(7), [{ dbId, ownerId, volume }]);
    t.same(await claimed(), [], 'nobody else gets it');
    t.ok(await retention.markRemoved(dbId));
    t.notOk(await retention.markRemoved(dbId), 'once only');
    await age(dbId, WEEK);
    await retention.review(7);
    t.same(await claimed(), []);
  });

  await t.test(`${name}: one that was taken and not removed is taken again`, async (t) => {
    const { dbId } = await condemned();
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    await age(dbId, 0.1);
    t.same(await claimed(), []);
    await age(dbId, 0.1);
    await retention.review(7);
    t.same(await claimed(), [dbId]);
    t.ok(await retention.markRemoved(dbId));
  });

  await t.test(`${name}: a restore before that saves it, one after it finds nothing`, async (t) => {
    const { dbId, ownerId } = await condemned();
    t.match(await containers.findDeleted(dbId, ownerId), { dbId });
    await containers.changeState(dbId, ['deleted'], { state: 'creating' });
    await containers.changeState(dbId, ['creating'], { state: 'deleted' });
    await age(dbId, 25);
    t.same(await claimed(), [], 'deleted again, its time begins anew');
    await age(dbId, WEEK);
    await retention.review(7);
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    t.equal(await containers.findDeleted(dbId, ownerId), null);
    t.ok(await retention.markRemoved(dbId));
    t.equal(await containers.findDeleted(dbId, ownerId), null);
  });

  await t.test(`${name}: a longer retention spares what is condemned`, async (t) => {
    const { dbId } = await condemned();
    await age(dbId, 24);
    t.same(await claimed(30), [], 'it holds for the removal as well');
    await retention.review(30);
    await retention.review(7);
    t.same(await claimed(), [], 'condemned anew, for another day');
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    await retention.markRemoved(dbId);
  });

  await t.test(`${name}: the volume of a live container is never due`, async (t) => {
    const live = await storedContainer(storage, (await storedUser(storage)).id);
    await age(live.dbId, 100 * WEEK);
    await retention.review(0);
    await age(live.dbId, 100 * WEEK);
    t.notOk((await claimed(0)).includes(live.dbId));
    t.notOk(await retention.markRemoved(live.dbId));
    t.notOk(await retention.markRemoved(NOBODY));
  });

  await t.test(`${name}: a purged one is due at once and does not come back`, async (t) => {
    const { dbId, ownerId } = await deleted();
    t.equal(await containers.countKept(ownerId), 1);
    t.match(await containers.listDeleted(ownerId), [{ dbId }]);
    await retention.purge(dbId);
    t.equal(await containers.findDeleted(dbId, ownerId), null);
    t.same(await containers.listDeleted(ownerId), []);
    await retention.review(7);
    t.same(await claimed(), [dbId]);
    t.equal(await containers.countKept(ownerId), 1, 'it counts until its volume is gone');
    t.ok(await retention.markRemoved(dbId));
    t.equal(await containers.countKept(ownerId), 0);
  });

  await t.test(`${name}: what a guest deletes is due within the hour`, async (t) => {
    const guest = await storedUser(storage, { guestUntil: new Date('2100-01-01T00:00:00Z') });
    const { dbId } = await storedContainer(storage, guest.id);
    await containers.changeState(dbId, ['running'], { state: 'deleted' });
    await age(dbId, 0.8);
    t.same(await claimed(), []);
    await age(dbId, 0.1);
    t.same(await claimed(), [dbId]);
    t.ok(await retention.markRemoved(dbId));
  });

  await t.test(`${name}: of many who ask at once, one gets each`, async (t) => {
    const made = [await deleted(), await deleted(), await deleted()].map(({ dbId }) => dbId);
    for (const dbId of made) await age(dbId, WEEK);
    await retention.review(7);
    for (const dbId of made) await age(dbId, 24);
    const all = (await Promise.all([1, 2, 3, 4].map(() => claimed()))).flat();
    t.same(all.toSorted(), made.toSorted());
    const done = await Promise.all(made.flatMap((dbId) => [1, 2].map(() => retention.markRemoved(dbId))));
    t.equal(done.filter(Boolean).length, made.length);
  });
}
