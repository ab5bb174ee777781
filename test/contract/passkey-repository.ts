import type { Test } from 'tap';
import { aStoredUser, atOnce, type OpenStorage, on, trues } from '../support/storage.ts';

export function passkeyContract(t: Test, open: OpenStorage): void {
  const test = on(t, open);
  const aKey = (userId: string, credentialId: string) => ({
    userId,
    credentialId,
    name: 'Laptop',
    publicKey: Buffer.from([1, 2, 3]),
    counter: 0,
    transports: ['usb', 'nfc'],
    backedUp: false,
  });

  test('a credential belongs to one user', async (t, repositories) => {
    const { passkeys } = repositories;
    const ada = await aStoredUser(repositories);
    const bob = await aStoredUser(repositories, 'bob');
    const made = await passkeys.insert(aKey(ada.id, 'one'));
    t.match(made, { ...aKey(ada.id, 'one'), id: String, createdAt: Date, lastUsedAt: null });
    t.equal(await passkeys.insert(aKey(bob.id, 'one')), null);
    await passkeys.insert(aKey(ada.id, 'two'));
    t.same(
      (await passkeys.listOf(ada.id)).map(({ credentialId }) => credentialId),
      ['one', 'two'],
    );
    t.same(await passkeys.listOf(bob.id), []);
    t.same(await passkeys.findByCredential('one'), made);
    t.equal(await passkeys.findByCredential('three'), null);
  });

  test('only its owner renames and removes it', async (t, repositories) => {
    const { passkeys } = repositories;
    const ada = await aStoredUser(repositories);
    const bob = await aStoredUser(repositories, 'bob');
    const { id = '' } = (await passkeys.insert(aKey(ada.id, 'one'))) ?? {};
    t.equal(await passkeys.rename(id, bob.id, 'mine'), null);
    t.match(await passkeys.rename(id, ada.id, 'Desk'), { name: 'Desk' });
    t.equal(await passkeys.remove(id, bob.id), false);
    t.equal(await passkeys.remove(id, ada.id), true);
    t.equal(await passkeys.remove(id, ada.id), false);
  });

  test('its count only grows, also at the same time; one that does not count stays at 0', async (t, repositories, storage) => {
    const { passkeys } = repositories;
    const ada = await aStoredUser(repositories);
    const { id = '' } = (await passkeys.insert(aKey(ada.id, 'one'))) ?? {};
    t.equal(await passkeys.used(id, 0, false), true);
    t.equal(await passkeys.used(id, 0, true), true);
    t.equal(trues(await atOnce(storage, 12, (tx) => tx.passkeys.used(id, 4_294_967_295, true))), 1);
    t.match(await passkeys.findByCredential('one'), {
      counter: 4_294_967_295,
      backedUp: true,
      lastUsedAt: Date,
    });
    for (const count of [0, 1, 4_294_967_295])
      t.equal(await passkeys.used(id, count, true), false, `${count}`);
  });
}
