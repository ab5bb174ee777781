import type { Test } from 'tap';
import { aStoredUser, atOnce, hashOf, type OpenStorage, on } from '../support/storage.ts';

export function pendingContract(t: Test, open: OpenStorage): void {
  const test = on(t, open);

  test('it is spent once, for its purpose, within its life', async (t, repositories, storage) => {
    const { pending } = repositories;
    const { id } = await aStoredUser(repositories);
    const hash = hashOf('secret');
    const end = await pending.insert(hash, 'second_factor', id, 5);
    t.ok(end instanceof Date);
    t.match(await pending.find(hash, 'second_factor'), { userId: id });
    t.equal(await pending.find(hash, 'passkey_sign_in'), null);
    t.equal(await pending.spend(hash, 'passkey_sign_in'), null);
    const spent = await atOnce(storage, 12, (tx) => tx.pending.spend(hash, 'second_factor'));
    t.equal(spent.filter((one) => one !== null).length, 1, 'at once');
    t.equal(await pending.find(hash, 'second_factor'), null);
    await pending.insert(hash, 'passkey_sign_in', null, 0);
    t.equal(await pending.find(hash, 'passkey_sign_in'), null, 'its life is over');
    t.equal(await pending.lock(hash, 'passkey_sign_in'), null);
    t.equal(await pending.spend(hash, 'passkey_sign_in'), null);
  });

  test('tries are counted, and all of a user for one purpose end together', async (t, repositories) => {
    const { pending } = repositories;
    const ada = await aStoredUser(repositories);
    const bob = await aStoredUser(repositories, 'bob');
    for (const [text, purpose, { id }] of [
      ['one', 'second_factor', ada],
      ['two', 'second_factor', ada],
      ['three', 'passkey_registration', ada],
      ['four', 'second_factor', bob],
    ] as const) {
      await pending.insert(hashOf(text), purpose, id, 5);
    }
    t.match(await pending.lock(hashOf('one'), 'second_factor'), { tries: 0 });
    await pending.countTry(hashOf('one'));
    t.match(await pending.lock(hashOf('one'), 'second_factor'), { tries: 1 });
    await pending.endAll(ada.id, 'second_factor');
    t.equal(await pending.find(hashOf('one'), 'second_factor'), null);
    t.equal(await pending.find(hashOf('two'), 'second_factor'), null);
    t.ok(await pending.find(hashOf('three'), 'passkey_registration'));
    t.ok(await pending.find(hashOf('four'), 'second_factor'));
  });
}
