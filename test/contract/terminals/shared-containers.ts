import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { aSharedContainer, endsOfShare } from '../../support/database/sharing.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';

/** Guarantees of shared containers. `age` lets a collaboration's time pass. */
export async function sharedContainerRepositoryContract(
  name: string,
  storage: Storage,
  age: (id: string) => Promise<void>,
): Promise<void> {
  const { participations, sharedContainers } = storage.repositories;

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

  await t.test(`${name}: who was put out sees the container no more`, async (t) => {
    const { bob, ref, first, part } = await aSharedContainer(storage);
    await participations.admit(part(first.id, bob.id));
    await participations.putOut(part(first.id, bob.id));
    t.equal(await sharedContainers.findFor(bob.id, ref), null);
  });

  await t.test(`${name}: a container is shared until its collaboration is over`, async (t) => {
    for (const [how, end] of endsOfShare(storage, age)) {
      const scene = await aSharedContainer(storage);
      const { bob, ref, container, first, part } = scene;
      await participations.admit(part(first.id, bob.id));
      t.equal(await sharedContainers.isShared(container.dbId), true, how);
      await end(scene);
      t.equal(await sharedContainers.isShared(container.dbId), false, how);
      t.equal(await sharedContainers.scene(container.dbId), null, how);
      t.equal(await sharedContainers.findFor(bob.id, ref), null, how);
      t.same(await sharedContainers.listVisible(bob.id), [], how);
    }
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
}
