import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../../src/ports/storage.ts';
import {
  aNewContainer,
  ownContainers,
  storedContainer,
  storedUser,
} from '../../../support/database/stored.ts';

/** Guarantees of stored deleted containers, and of orphans. */
export async function deletedContainerRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { containers, deletedContainers, orphans } = storage.repositories;

  await t.test(`${name}: what was deleted is listed to its owner, unless it never came up`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const [gone, there] = [await storedContainer(storage, ada.id), await storedContainer(storage, ada.id)];
    const never = aNewContainer(ada.id);
    await containers.insert(never);
    t.same(await deletedContainers.listRestorable(ada.id), []);
    await containers.changeState(gone.dbId, ['running'], { state: 'deleted' });
    await containers.changeState(never.dbId, ['creating'], { state: 'deleted' });
    t.match(await deletedContainers.listRestorable(ada.id), [{ dbId: gone.dbId, state: 'deleted' }]);
    t.match(await ownContainers(storage, ada.id), [{ dbId: there.dbId }]);
    t.same(await deletedContainers.listRestorable(eve.id), []);
  });

  await t.test(`${name}: kept volumes and private images are known by what was deleted`, async (t) => {
    const { layerImages, diskUse } = storage.repositories;
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const before = await deletedContainers.sumKept();
    const boxes = [await storedContainer(storage, ada.id), await storedContainer(storage, eve.id)];
    for (const { dbId } of boxes) {
      await layerImages.put(dbId, { image: `image-of-${dbId}`, changes: null });
      await diskUse.record(dbId, { usedMb: 300 });
    }
    t.equal((await deletedContainers.sumKept()).count, before.count, 'not those that are live');
    t.same(await layerImages.findDeleted(ada.id), new Set());
    for (const { dbId } of boxes) await containers.changeState(dbId, ['running'], { state: 'deleted' });
    t.same(await deletedContainers.sumKept(), { count: before.count + 2, usedMb: before.usedMb + 600 });
    t.same(await layerImages.findDeleted(ada.id), new Set([boxes[0]?.dbId]));
  });

  await t.test(`${name}: a deleted container is found by its owner alone`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const { dbId } = await storedContainer(storage, ada.id);
    t.equal(await deletedContainers.findForUpdate(dbId, ada.id), null, 'not while it is live');
    await containers.changeState(dbId, ['running'], { state: 'deleted' });
    t.match(await deletedContainers.findForUpdate(dbId, ada.id), { dbId, state: 'deleted' });
    t.equal(await deletedContainers.findForUpdate(dbId, eve.id), null);
  });

  await t.test(`${name}: an orphan keeps its first time for as long as it is named`, async (t) => {
    const [a, b] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    const first = await orphans.remember([a]);
    t.same([...first.keys()], [a]);
    const second = await orphans.remember([a, b]);
    t.same(second.get(a), first.get(a));
    t.same(new Set(second.keys()), new Set([a, b]));
    t.same([...(await orphans.remember([])).keys()], []);
  });
}
