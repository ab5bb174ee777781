import type { Test } from 'tap';
import { aStoredUser, atOnce, from, type OpenStorage, on, trues } from '../support/storage.ts';

export function personContract(t: Test, open: OpenStorage): void {
  const test = on(t, open);

  test('a user is renamed to a name that is free, whatever its letters', async (t, repositories) => {
    const { users } = repositories;
    const ada = await aStoredUser(repositories);
    await aStoredUser(repositories, 'bob');
    t.match(await users.rename(ada.id, 'ADA'), { username: 'ADA' });
    t.equal(await users.rename(ada.id, 'Bob'), null);
    t.match(await users.findById(ada.id), { username: 'ADA' });
  });

  test('a password is replaced only by who knows which it was', async (t, repositories, storage) => {
    const { users } = repositories;
    const ada = await aStoredUser(repositories);
    t.equal(await users.changePassword(ada.id, 'not it', 'new'), false);
    const done = await atOnce(storage, 8, (tx, n) => tx.users.changePassword(ada.id, 'old', `new ${n}`));
    t.equal(trues(done), 1);
    t.match(await users.holdForSignIn(ada.id), { user: { id: ada.id }, passwordHash: /^new \d$/ });
    t.equal(await users.holdForSignIn('99999999-9999-4999-8999-999999999999'), null);
  });

  test('whether a user was ever signed in from an address', async (t, repositories) => {
    const { sessions } = repositories;
    const { id } = await aStoredUser(repositories);
    await sessions.insert({ userId: id, ...from });
    t.equal(await sessions.seenAt(id, from.ipAddress), true);
    t.equal(await sessions.seenAt(id, '192.0.2.2'), false);
  });
}
