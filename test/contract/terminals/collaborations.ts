import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { aSharedContainer, endsOfShare } from '../../support/database/sharing.ts';
import { hashOf, storedContainer, storedUser } from '../../support/database/stored.ts';
import { valuesOf } from '../../support/values.ts';

/** Guarantees of stored collaborations, and of who takes part. `age` lets a collaboration's time pass. */
export async function collaborationContract(
  name: string,
  storage: Storage,
  age: (id: string) => Promise<void>,
): Promise<void> {
  const {
    collaborations,
    collaborationCleanup: cleanup,
    participations,
    sharedContainers,
  } = storage.repositories;

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
    t.same(valuesOf(await collaborations.listLive(container.dbId, ada.id), 'id'), [second.id, first.id]);
    t.same(await collaborations.listLive(container.dbId, bob.id), []);
  });

  await t.test(`${name}: one that is over opens nothing, and is cleaned up once`, async (t) => {
    const isOverdue = async (id: string) => (await cleanup.overdue()).includes(id);
    const isAwaiting = async (id: string) => (await cleanup.awaitingCleanUp()).includes(id);
    for (const [how, end] of endsOfShare(storage, age)) {
      const scene = await aSharedContainer(storage);
      const { ada, bob, container, code, ref, first, part } = scene;
      const taken = part(first.id, bob.id);
      await participations.admit(taken);
      t.same(await participations.stillActive([taken, part(first.id, ada.id)]), [taken], how);
      t.equal(await sharedContainers.isShared(container.dbId), true, how);
      t.equal(await isOverdue(first.id), false, how);
      await end(scene);
      t.same(await participations.stillActive([taken]), [], how);
      t.equal(await sharedContainers.isShared(container.dbId), false, how);
      t.equal(await sharedContainers.scene(container.dbId), null, how);
      t.equal(await sharedContainers.findFor(bob.id, ref), null, how);
      t.same(await sharedContainers.listVisible(bob.id), [], how);
      t.same(await collaborations.listLive(container.dbId, ada.id), [], how);
      t.equal(await collaborations.findByCodeForUpdate(hashOf(code)), null, how);
      t.equal(await isOverdue(first.id), how !== 'the end');
      await collaborations.end(first.id);
      t.match(await collaborations.find(first.id), { endedAt: Date }, how);
      t.same([await isOverdue(first.id), await isAwaiting(first.id)], [false, true], how);
      await cleanup.markCleanedUp(first.id);
      t.equal(await isAwaiting(first.id), false, how);
    }
    t.same(await participations.stillActive([]), []);
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

  await t.test(`${name}: who comes and goes is a participant, once, while there`, async (t) => {
    const { bob, first, part } = await aSharedContainer(storage);
    const bobs = part(first.id, bob.id);
    for (const _ of ['joins', 'joins again']) await participations.admit(bobs);
    const joined = [{ userId: bob.id, username: bob.username, joinedAt: Date }];
    t.match(await collaborations.find(first.id), { participants: joined });
    await participations.dismiss(bobs);
    t.same((await collaborations.find(first.id))?.participants, []);
    t.same(await participations.stillActive([bobs]), []);
    await participations.admit(bobs);
    t.match(await collaborations.find(first.id), { participants: joined });
    t.same(await participations.stillActive([bobs]), [bobs]);
  });

  await t.test(`${name}: who was put out takes part no more, and that is kept`, async (t) => {
    const { bob, eve, ref, first, part } = await aSharedContainer(storage);
    for (const { id } of [bob, eve]) await participations.admit(part(first.id, id));
    await participations.putOut(part(first.id, bob.id));
    const [now] = [await collaborations.find(first.id)];
    t.match(now, { participants: [{ userId: eve.id }], removed: [bob.id] });
    t.equal(now?.participants.length, 1);
    t.equal(await sharedContainers.findFor(bob.id, ref), null, 'nor sees the container');
    const taken = await participations.stillActive([part(first.id, bob.id), part(first.id, eve.id)]);
    t.same(taken, [part(first.id, eve.id)]);
    await participations.dismiss(part(first.id, eve.id));
    t.match(await collaborations.find(first.id), { participants: [], removed: [bob.id] });
  });

  await t.test(`${name}: who takes part sees the container, with the most that is given`, async (t) => {
    const { bob, eve, container, ref, first, share, part } = await aSharedContainer(storage);
    t.equal(await sharedContainers.findFor(bob.id, ref), null);
    await participations.admit(part(first.id, bob.id));
    const shared = { container, access: { collaborationId: first.id, mode: 'view' as const } };
    t.same(await sharedContainers.findFor(bob.id, ref), shared);
    const byRuntime = { kind: 'runtime_id', prefix: (container.runtimeId ?? '').slice(0, 12) } as const;
    t.same(await sharedContainers.findFor(bob.id, byRuntime), shared);
    t.equal(await sharedContainers.findFor(bob.id, { kind: 'agent', agentId: randomUUID() }), null);
    t.equal(await sharedContainers.findFor(eve.id, ref), null);
    const control = await share('control');
    await participations.admit(part(control.id, bob.id));
    const best = { container, access: { collaborationId: control.id, mode: 'control' as const } };
    t.same(await sharedContainers.findFor(bob.id, ref), best);
    t.same(await sharedContainers.listVisible(bob.id), [best], 'once');
    await participations.dismiss(part(control.id, bob.id));
    t.same(await sharedContainers.listVisible(bob.id), [shared]);
    await participations.admit(part(control.id, bob.id));
    t.same(await sharedContainers.listVisible(bob.id), [best], 'and comes back');
    const own = { container: await storedContainer(storage, bob.id), access: null };
    t.same(await sharedContainers.listVisible(bob.id), [own, best], "after the user's own");
  });

  await t.test(`${name}: who is there, and how large`, async (t) => {
    const { ada, bob, eve, container, first, share, part, open } = await aSharedContainer(storage);
    for (const who of [bob, eve]) await participations.admit(part(first.id, who.id));
    t.same(await sharedContainers.scene(container.dbId), { size: null, present: [] });
    const control = await share('control');
    await participations.admit(part(control.id, bob.id));
    for (const { id } of [bob, ada, bob]) await open(id);
    await open((await storedUser(storage)).id);
    const present = [
      { userId: ada.id, username: ada.username, owner: true, mode: 'control' },
      { userId: bob.id, username: bob.username, owner: false, mode: 'control' },
    ];
    t.same(await sharedContainers.scene(container.dbId), { size: null, present });
    await sharedContainers.noteSize(container.dbId, { cols: 100, rows: 30 });
    t.same(await sharedContainers.scene(container.dbId), { size: { cols: 100, rows: 30 }, present });
    await sharedContainers.noteSize(container.dbId, null);
    t.match(await sharedContainers.scene(container.dbId), { size: null });
  });

  await t.test(`${name}: whose sessions are left over`, async (t) => {
    const { bob, eve, first, share, part } = await aSharedContainer(storage, 'control');
    const [other, looking] = [await share('control'), await share('view')];
    for (const who of [bob, eve]) await participations.admit(part(first.id, who.id));
    await participations.admit(part(other.id, bob.id));
    await participations.admit(part(looking.id, eve.id));
    await participations.dismiss(part(first.id, eve.id));
    t.same(await cleanup.leftovers(first.id), [eve.id], 'also of who left; not of who types on');
    await collaborations.end(other.id);
    t.same(new Set(await cleanup.leftovers(first.id)), new Set([bob.id, eve.id]));
  });
}
