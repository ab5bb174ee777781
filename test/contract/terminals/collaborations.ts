import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { CollaborationMode } from '../../../src/domain/terminals/collaboration.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { hashOf, recordOf, storedContainer, storedUser } from '../../support/database/stored.ts';

/** What keeping shared terminals must guarantee. `age` makes one's time go by. */
export async function collaborationRepositoryContract(
  name: string,
  storage: Storage,
  age: (id: string) => Promise<void>,
): Promise<void> {
  const { collaborations, containers, terminals, users } = storage.repositories;

  /** Ada shares her container; Bob and Eve are there to take part. */
  async function aScene(mode: CollaborationMode = 'view') {
    const [ada, bob, eve] = [await storedUser(storage), await storedUser(storage), await storedUser(storage)];
    const container = await storedContainer(storage, ada.id);
    const share = (of: CollaborationMode, code: string = randomUUID()) =>
      collaborations.insert({
        id: randomUUID(),
        dbId: container.dbId,
        ownerId: ada.id,
        mode: of,
        codeHash: hashOf(code),
        minutes: 60,
      });
    const code = randomUUID();
    const first = await share(mode, code);
    const part = (id: string, userId: string) => ({ collaborationId: id, userId });
    const ref = { kind: 'db_id', dbId: container.dbId } as const;
    const open = (userId: string) => terminals.insert(recordOf({ id: userId }, container));
    return { ada, bob, eve, container, ref, code, first, share, part, open };
  }

  await t.test(`${name}: one is found by its id, by its code and by its container`, async (t) => {
    const { ada, bob, container, code, first, share } = await aScene();
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

  await t.test(`${name}: who was put out takes part no more, and that is kept`, async (t) => {
    const { bob, eve, ref, first, part } = await aScene();
    for (const { id } of [bob, eve]) await collaborations.admit(part(first.id, id));
    await collaborations.putOut(part(first.id, bob.id));
    const [now] = [await collaborations.find(first.id)];
    t.match(now, { participants: [{ userId: eve.id }], removed: [bob.id] });
    t.equal(now?.participants.length, 1);
    t.equal(await collaborations.findShared(ref, bob.id), null);
    const taken = await collaborations.stillActive([part(first.id, bob.id), part(first.id, eve.id)]);
    t.same(taken, [part(first.id, eve.id)]);
    await collaborations.dismiss(part(first.id, eve.id));
    t.match(await collaborations.find(first.id), { participants: [], removed: [bob.id] });
  });

  await t.test(`${name}: who takes part sees the container, with the most that is given`, async (t) => {
    const { bob, eve, container, ref, first, share, part } = await aScene();
    t.equal(await collaborations.findShared(ref, bob.id), null);
    await collaborations.admit(part(first.id, bob.id));
    await collaborations.admit(part(first.id, bob.id));
    t.match(await collaborations.find(first.id), {
      participants: [{ userId: bob.id, username: bob.username, joinedAt: Date }],
    });
    const shared = { container, access: { collaborationId: first.id, mode: 'view' as const } };
    t.same(await collaborations.findShared(ref, bob.id), shared);
    const byRuntime = { kind: 'runtime_id', prefix: (container.runtimeId ?? '').slice(0, 12) } as const;
    t.same(await collaborations.findShared(byRuntime, bob.id), shared);
    t.equal(await collaborations.findShared({ kind: 'agent', agentId: randomUUID() }, bob.id), null);
    t.equal(await collaborations.findShared(ref, eve.id), null);
    const control = await share('control');
    await collaborations.admit(part(control.id, bob.id));
    const best = { container, access: { collaborationId: control.id, mode: 'control' as const } };
    t.same(await collaborations.findShared(ref, bob.id), best);
    t.same(await collaborations.listShared(bob.id), [best], 'once');
    await collaborations.dismiss(part(control.id, bob.id));
    t.same(await collaborations.listShared(bob.id), [shared]);
    t.match(await collaborations.find(control.id), { participants: [] });
    await collaborations.admit(part(control.id, bob.id));
    t.same(await collaborations.listShared(bob.id), [best], 'and comes back');
  });

  await t.test(`${name}: the end, the time and the delete take all of it away`, async (t) => {
    const ends: readonly (readonly [
      string,
      (scene: Awaited<ReturnType<typeof aScene>>) => Promise<unknown>,
    ])[] = [
      ['the end', ({ first }) => collaborations.end(first.id)],
      ['the time', ({ first }) => age(first.id)],
      ['the loss of the account', ({ ada }) => users.change(ada.id, { disabled: true })],
      [
        'the delete',
        ({ container }) => containers.changeState(container.dbId, ['running'], { state: 'deleted' }),
      ],
    ];
    for (const [how, end] of ends) {
      const scene = await aScene('control');
      const { ada, bob, ref, container, code, first, part } = scene;
      const taken = part(first.id, bob.id);
      await collaborations.admit(taken);
      t.same(await collaborations.stillActive([taken, part(first.id, ada.id)]), [taken], how);
      t.equal(await collaborations.isShared(container.dbId), true);
      t.notOk((await collaborations.overdue()).includes(first.id));
      await end(scene);
      t.same(await collaborations.stillActive([taken]), [], how);
      t.equal(await collaborations.isShared(container.dbId), false);
      t.equal(await collaborations.scene(container.dbId), null);
      t.equal(await collaborations.findShared(ref, bob.id), null);
      t.same(await collaborations.listShared(bob.id), []);
      t.same(await collaborations.listLive(container.dbId, ada.id), []);
      t.equal(await collaborations.findByCodeForUpdate(hashOf(code)), null);
      t.equal((await collaborations.overdue()).includes(first.id), how !== 'the end');
      await collaborations.end(first.id);
      t.notOk((await collaborations.overdue()).includes(first.id));
      t.ok((await collaborations.awaitingCleanUp()).includes(first.id));
      t.match(await collaborations.find(first.id), { endedAt: Date });
      await collaborations.markCleanedUp(first.id);
      t.notOk((await collaborations.awaitingCleanUp()).includes(first.id));
    }
    t.same(await collaborations.stillActive([]), []);
  });

  await t.test(`${name}: all of a container end at once, and those of others go on`, async (t) => {
    const [scene, other] = [await aScene(), await aScene()];
    const control = await scene.share('control');
    await collaborations.end(control.id);
    const ended = await collaborations.endAllOf(scene.container.dbId);
    t.match(ended, [{ id: scene.first.id, ownerId: scene.ada.id, mode: 'view', endedAt: Date }]);
    t.equal(ended.length, 1, 'what has ended before is not ended again');
    t.same(await collaborations.endAllOf(scene.container.dbId), []);
    t.match(await collaborations.find(scene.first.id), { endedAt: Date });
    t.match(await collaborations.find(other.first.id), { endedAt: null });
  });

  await t.test(`${name}: whose sessions are left over`, async (t) => {
    const { bob, eve, first, share, part } = await aScene('control');
    const [other, looking] = [await share('control'), await share('view')];
    for (const who of [bob, eve]) await collaborations.admit(part(first.id, who.id));
    await collaborations.admit(part(other.id, bob.id));
    await collaborations.admit(part(looking.id, eve.id));
    await collaborations.dismiss(part(first.id, eve.id));
    t.same(await collaborations.leftovers(first.id), [eve.id], 'also of who left; not of who types on');
    await collaborations.end(other.id);
    t.same(new Set(await collaborations.leftovers(first.id)), new Set([bob.id, eve.id]));
  });

  await t.test(`${name}: who is there, and how large`, async (t) => {
    const { ada, bob, eve, container, first, share, part, open } = await aScene();
    for (const who of [bob, eve]) await collaborations.admit(part(first.id, who.id));
    t.same(await collaborations.scene(container.dbId), { size: null, present: [] });
    const control = await share('control');
    await collaborations.admit(part(control.id, bob.id));
    for (const { id } of [bob, ada, bob]) await open(id);
    await open((await storedUser(storage)).id);
    const present = [
      { userId: ada.id, username: ada.username, owner: true, mode: 'control' },
      { userId: bob.id, username: bob.username, owner: false, mode: 'control' },
    ];
    t.same(await collaborations.scene(container.dbId), { size: null, present });
    await collaborations.noteSize(container.dbId, { cols: 100, rows: 30 });
    t.same(await collaborations.scene(container.dbId), { size: { cols: 100, rows: 30 }, present });
    await collaborations.noteSize(container.dbId, null);
    t.match(await collaborations.scene(container.dbId), { size: null });
  });
}
