import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { aSharedContainer, endsOfShare } from '../../support/database/sharing.ts';

/** Guarantees of stored participations. `age` lets a collaboration's time pass. */
export async function participationRepositoryContract(
  name: string,
  storage: Storage,
  age: (id: string) => Promise<void>,
): Promise<void> {
  const { collaborations, participations } = storage.repositories;

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
    const { bob, eve, first, part } = await aSharedContainer(storage);
    for (const { id } of [bob, eve]) await participations.admit(part(first.id, id));
    await participations.putOut(part(first.id, bob.id));
    const [now] = [await collaborations.find(first.id)];
    t.match(now, { participants: [{ userId: eve.id }], removed: [bob.id] });
    t.equal(now?.participants.length, 1);
    const taken = await participations.stillActive([part(first.id, bob.id), part(first.id, eve.id)]);
    t.same(taken, [part(first.id, eve.id)]);
    await participations.dismiss(part(first.id, eve.id));
    t.match(await collaborations.find(first.id), { participants: [], removed: [bob.id] });
  });

  await t.test(`${name}: nobody takes part in one that is over`, async (t) => {
    for (const [how, end] of endsOfShare(storage, age)) {
      const scene = await aSharedContainer(storage);
      const { ada, bob, first, part } = scene;
      const taken = part(first.id, bob.id);
      await participations.admit(taken);
      t.same(await participations.stillActive([taken, part(first.id, ada.id)]), [taken], how);
      await end(scene);
      t.same(await participations.stillActive([taken]), [], how);
    }
    t.same(await participations.stillActive([]), []);
  });
}
