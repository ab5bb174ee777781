import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { aSharedContainer, endsOfShare } from '../../support/database/sharing.ts';
import { hashOf } from '../../support/database/stored.ts';

/** Guarantees of stored collaborations. `age` lets a collaboration's time pass. */
export async function collaborationRepositoryContract(
  name: string,
  storage: Storage,
  age: (id: string) => Promise<void>,
): Promise<void> {
  const { collaborations } = storage.repositories;

  await t.test(`${name}: one is found by its id, by its code and by its container`, async (t) => {
    const { ada, bob, container, code, first, share } = await aSharedContainer(storage);
    t.match(first, { mode: 'view', ownerId: ada.id, endedAt: null, participants: [] });
    t.equal(first.expiresAt.getTime() - first.createdAt.getTime(), 3_600_000);
    t.same(await collaborations.find(first.id), first);
    t.same(await storage.inTransaction((tx) => tx.collaborations.findForUpdate(first.id)), first);
    t.same(await storage.inTransaction((tx) => tx.collaborations.findByCodeForUpdate(hashOf(code))), first);
    t.equal(await collaborations.findByCodeForUpdate(hashOf('another')), null);
    t.equal(await collaborations.find(randomUUID()), null);
    const second = await share('control');
    t.same(
      (await collaborations.listLive(container.dbId, ada.id)).map(({ id }) => id),
      [second.id, first.id],
    );
    t.same(await collaborations.listLive(container.dbId, bob.id), []);
  });

  await t.test(`${name}: one that is over is found by its id alone`, async (t) => {
    for (const [how, end] of endsOfShare(storage, age)) {
      const scene = await aSharedContainer(storage);
      const { ada, container, code, first } = scene;
      await end(scene);
      t.same(await collaborations.listLive(container.dbId, ada.id), [], how);
      t.equal(await collaborations.findByCodeForUpdate(hashOf(code)), null, how);
      await collaborations.end(first.id);
      t.match(await collaborations.find(first.id), { endedAt: Date }, how);
    }
  });

  await t.test(`${name}: all of a container end at once, and those of others go on`, async (t) => {
    const [scene, other] = [await aSharedContainer(storage), await aSharedContainer(storage)];
    const control = await scene.share('control');
    await collaborations.end(control.id);
    const ended = await collaborations.endAllOf(scene.container.dbId);
    t.match(ended, [{ id: scene.first.id, ownerId: scene.ada.id, mode: 'view', endedAt: Date }]);
    t.equal(ended.length, 1, 'what has ended before is not ended again');
    t.same(await collaborations.endAllOf(scene.container.dbId), []);
    t.match(await collaborations.find(scene.first.id), { endedAt: Date });
    t.match(await collaborations.find(other.first.id), { endedAt: null });
  });
}
