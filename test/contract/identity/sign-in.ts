import { randomBytes, randomUUID } from 'node:crypto';
import {
  atOnce,
  hashOf,
  type OnStorage,
  type OpenedStorage,
  onStorage,
  storedUser,
  trues,
} from '../../support/database/stored.ts';
import { valuesOf } from '../../support/values.ts';

/** Guarantees of second factors, pending proofs and the throttle. */
export function signInContract(name: string, storage: OpenedStorage): void {
  const test = onStorage(name, storage);
  for (const contract of [factorContract, passkeyContract, pendingContract, throttleContract]) contract(test);
}

function factorContract(test: OnStorage): void {
  test('a pending secret is replaced, a confirmed one is not', async (t, repositories, storage) => {
    const { factors } = repositories;
    const { id } = await storedUser(storage);
    const [one, two] = [randomBytes(40), randomBytes(40)];
    t.equal(await factors.totp(id), null);
    t.equal(await factors.putPendingTotp(id, one), true);
    t.equal(await factors.putPendingTotp(id, two), true);
    t.match(await factors.totp(id), { sealedSecret: two, confirmedAt: null });
    t.equal(await factors.removeTotp(id), false, 'it is not on');
    t.equal(await factors.acceptStep(id, 5), false);
    t.equal(await factors.confirmTotp(id, one, 7), false, 'not the one that was replaced');
    t.equal(await factors.confirmTotp(id, two, 7), true);
    t.equal(await factors.confirmTotp(id, two, 8), false, 'not twice');
    t.match(await factors.totp(id), { confirmedAt: Date, lastStep: 7 });
    t.equal(await factors.putPendingTotp(id, one), false);
    t.equal(await factors.removeTotp(id), true);
    t.equal(await factors.removeTotp(id), false);
    t.equal(await factors.totp(id), null);
  });

  test('a step is accepted once, and none before it any more', async (t, repositories, storage) => {
    const { factors } = repositories;
    const { id } = await storedUser(storage);
    await factors.putPendingTotp(id, randomBytes(40));
    const { sealedSecret = Buffer.alloc(0) } = (await factors.totp(id)) ?? {};
    await factors.confirmTotp(id, sealedSecret, 100);
    t.equal(await factors.acceptStep(id, 100), false);
    t.equal(await factors.acceptStep(id, 102), true);
    t.equal(await factors.acceptStep(id, 101), false);
    t.equal(trues(await atOnce(storage, 12, (tx) => tx.factors.acceptStep(id, 103))), 1, 'at once');
  });

  test('of confirmations at once one counts', async (t, repositories, storage) => {
    const { factors } = repositories;
    const { id } = await storedUser(storage);
    const secret = randomBytes(40);
    await factors.putPendingTotp(id, secret);
    t.equal(trues(await atOnce(storage, 8, (tx) => tx.factors.confirmTotp(id, secret, 1))), 1);
  });

  test('a secret is encrypted anew unless it is another one by now', async (t, repositories, storage) => {
    const { factors } = repositories;
    const { id } = await storedUser(storage);
    const [one, two, three] = [randomBytes(40), randomBytes(40), randomBytes(40)];
    await factors.putPendingTotp(id, one);
    await factors.confirmTotp(id, one, 9);
    const secrets = await factors.allSecrets();
    t.same(
      secrets.filter(({ userId }) => userId === id),
      [{ userId: id, sealedSecret: one }],
    );
    await factors.replaceSecret(id, one, two);
    t.match(await factors.totp(id), { sealedSecret: two, lastStep: 9, confirmedAt: Date });
    await factors.replaceSecret(id, one, three);
    t.match(await factors.totp(id), { sealedSecret: two });
  });

  test('a recovery code is spent once, also at the same time', async (t, repositories, storage) => {
    const { recoveryCodes } = repositories;
    const ada = await storedUser(storage);
    const bob = await storedUser(storage);
    const [one, two] = [hashOf('one'), hashOf('two')];
    await recoveryCodes.replace(ada.id, [one, two]);
    await recoveryCodes.replace(bob.id, [one]);
    t.equal(await recoveryCodes.left(ada.id), 2);
    t.equal(await recoveryCodes.spend(ada.id, hashOf('none')), false);
    t.equal(trues(await atOnce(storage, 12, (tx) => tx.recoveryCodes.spend(ada.id, one))), 1);
    t.equal(await recoveryCodes.left(ada.id), 1);
    t.equal(await recoveryCodes.left(bob.id), 1, "another's is another's");
    await recoveryCodes.replace(ada.id, [hashOf('three')]);
    t.equal(await recoveryCodes.spend(ada.id, two), false, 'the old ones are gone');
    await recoveryCodes.replace(ada.id, []);
    t.equal(await recoveryCodes.left(ada.id), 0);
  });
}

function passkeyContract(test: OnStorage): void {
  const aKey = (userId: string, credentialId: string) => ({
    userId,
    credentialId,
    name: 'Laptop',
    publicKey: Buffer.from([1, 2, 3]),
    counter: 0,
    transports: ['usb', 'nfc'],
    backedUp: false,
  });

  const [one, two] = [randomUUID(), randomUUID()];

  test('a credential belongs to one user', async (t, repositories, storage) => {
    const { passkeys } = repositories;
    const ada = await storedUser(storage);
    const bob = await storedUser(storage);
    const made = await passkeys.insert(aKey(ada.id, one));
    t.match(made, { ...aKey(ada.id, one), id: String, createdAt: Date, lastUsedAt: null });
    t.equal(await passkeys.insert(aKey(bob.id, one)), null);
    await passkeys.insert(aKey(ada.id, two));
    t.same(valuesOf(await passkeys.listOf(ada.id), 'credentialId'), [one, two]);
    t.same(await passkeys.listOf(bob.id), []);
    t.same(await passkeys.findByCredential(one), made);
    t.equal(await passkeys.findByCredential(randomUUID()), null);
  });

  test('only its owner renames and removes it', async (t, repositories, storage) => {
    const { passkeys } = repositories;
    const ada = await storedUser(storage);
    const bob = await storedUser(storage);
    const { id = '' } = (await passkeys.insert(aKey(ada.id, randomUUID()))) ?? {};
    t.equal(await passkeys.rename(id, bob.id, 'mine'), null);
    t.match(await passkeys.rename(id, ada.id, 'Desk'), { name: 'Desk' });
    t.equal(await passkeys.remove(id, bob.id), false);
    t.equal(await passkeys.remove(id, ada.id), true);
    t.equal(await passkeys.remove(id, ada.id), false);
  });

  test('its count only grows, also at the same time; one that does not count stays at 0', async (t, repositories, storage) => {
    const { passkeys } = repositories;
    const ada = await storedUser(storage);
    const [credential, other] = [randomUUID(), randomUUID()];
    const beside = await passkeys.insert(aKey(ada.id, other));
    const { id = '' } = (await passkeys.insert(aKey(ada.id, credential))) ?? {};
    t.equal(await passkeys.used(id, 0, false), true);
    t.equal(await passkeys.used(id, 0, true), true);
    t.equal(trues(await atOnce(storage, 12, (tx) => tx.passkeys.used(id, 4_294_967_295, true))), 1);
    t.match(await passkeys.findByCredential(credential), {
      counter: 4_294_967_295,
      backedUp: true,
      lastUsedAt: Date,
    });
    for (const count of [0, 1, 4_294_967_295])
      t.equal(await passkeys.used(id, count, true), false, `${count}`);
    t.same(await passkeys.findByCredential(other), beside, 'a use of one is none of another');
  });
}

function pendingContract(test: OnStorage): void {
  test('it is spent once, for its purpose, within its life', async (t, repositories, storage) => {
    const { pending } = repositories;
    const { id } = await storedUser(storage);
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

  test('tries are counted, and all of a user for one purpose end together', async (t, repositories, storage) => {
    const { pending } = repositories;
    const ada = await storedUser(storage);
    const bob = await storedUser(storage);
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

function throttleContract(test: OnStorage): void {
  const [a, b] = [hashOf('a'), hashOf('b')];

  test('tallies come in the order of their keys, and are forgotten', async (t, { throttle }) => {
    const at = new Date(Date.now() - 1_000);
    t.match(await throttle.read([a, b]), { tallies: [null, null], now: Date });
    await throttle.put([{ key: b, tally: { count: 2.5, at } }]);
    t.same((await throttle.read([a, b])).tallies, [null, { count: 2.5, at }]);
    t.same((await throttle.read([b, a])).tallies, [{ count: 2.5, at }, null]);
    await throttle.forget([a, b]);
    t.same((await throttle.read([a, b])).tallies, [null, null]);
  });

  test('locked, none of the failures at the same time is lost, in whatever order the keys are asked for', async (t, {
    throttle,
  }, storage) => {
    await atOnce(storage, 24, async (tx, n) => {
      const keys = n % 2 === 0 ? [a, b] : [b, a];
      const { tallies, now } = await tx.throttle.lock(keys);
      const put = keys.map((key, at) => ({ key, tally: { count: (tallies[at]?.count ?? 0) + 1, at: now } }));
      await tx.throttle.put(put);
    });
    const { tallies } = await throttle.read([a, b]);
    t.same(
      tallies.map((tally) => tally?.count),
      [24, 24],
    );
  });

  test('those that wait while a success forgets the failures come one after the other all the same', async (t, {
    throttle,
  }, storage) => {
    await throttle.put([{ key: a, tally: { count: 3, at: new Date() } }]);
    const locked = Promise.withResolvers<void>();
    const success = storage.inTransaction(async (tx) => {
      await tx.throttle.lock([a]);
      locked.resolve();
      await storage.blocked?.(8);
      await tx.throttle.forget([a]);
    });
    await locked.promise;
    const failures = atOnce(storage, 8, async (tx) => {
      const { tallies, now } = await tx.throttle.lock([a]);
      // A turn in which another could read the same count.
      await tx.throttle.read([a]);
      await tx.throttle.put([{ key: a, tally: { count: (tallies[0]?.count ?? 0) + 1, at: now } }]);
    });
    await Promise.all([success, failures]);
    const { tallies } = await throttle.read([a]);
    t.equal(tallies[0]?.count, 8);
  });
}
