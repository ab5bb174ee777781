import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { aStoredUser, atOnce, hashOf, type OpenStorage, on, trues } from '../support/storage.ts';

export function factorContract(t: Test, open: OpenStorage): void {
  const test = on(t, open);

  test('a pending secret is replaced, a confirmed one is not', async (t, repositories) => {
    const { factors } = repositories;
    const { id } = await aStoredUser(repositories);
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
    const { id } = await aStoredUser(repositories);
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
    const { id } = await aStoredUser(repositories);
    const secret = randomBytes(40);
    await factors.putPendingTotp(id, secret);
    t.equal(trues(await atOnce(storage, 8, (tx) => tx.factors.confirmTotp(id, secret, 1))), 1);
  });

  test('a secret is encrypted anew unless it is another one by now', async (t, repositories) => {
    const { factors } = repositories;
    const { id } = await aStoredUser(repositories);
    const [one, two, three] = [randomBytes(40), randomBytes(40), randomBytes(40)];
    await factors.putPendingTotp(id, one);
    await factors.confirmTotp(id, one, 9);
    t.same(await factors.allSecrets(), [{ userId: id, sealedSecret: one }]);
    await factors.replaceSecret(id, one, two);
    t.match(await factors.totp(id), { sealedSecret: two, lastStep: 9, confirmedAt: Date });
    await factors.replaceSecret(id, one, three);
    t.match(await factors.totp(id), { sealedSecret: two });
  });

  test('a recovery code is spent once, also at the same time', async (t, repositories, storage) => {
    const { recoveryCodes } = repositories;
    const ada = await aStoredUser(repositories);
    const bob = await aStoredUser(repositories, 'bob');
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
