import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { aSharedContainer, endsOfShare } from '../../support/database/sharing.ts';

/** Guarantees of ended collaborations. `age` lets a collaboration's time pass. */
export async function collaborationCleanupContract(
  name: string,
  storage: Storage,
  age: (id: string) => Promise<void>,
): Promise<void> {
  const { collaborations, collaborationCleanup: cleanup, participations } = storage.repositories;

  await t.test(
    `${name}: one that is over is overdue until it is ended, and then cleaned up once`,
    async (t) => {
      const isOverdue = async (id: string) => (await cleanup.overdue()).includes(id);
      const isAwaiting = async (id: string) => (await cleanup.awaitingCleanUp()).includes(id);
      for (const [how, end] of endsOfShare(storage, age)) {
        const scene = await aSharedContainer(storage);
        const { id } = scene.first;
        t.equal(await isOverdue(id), false, how);
        await end(scene);
        t.equal(await isOverdue(id), how !== 'the end');
        await collaborations.end(id);
        t.same([await isOverdue(id), await isAwaiting(id)], [false, true], how);
        await cleanup.markCleanedUp(id);
        t.equal(await isAwaiting(id), false, how);
      }
    },
  );

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
