import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../src/ports/repositories.ts';
import { storedUser } from '../support/stored.ts';

const hashOf = (code: string): Buffer => createHash('sha256').update(code).digest();

/** What the installation's row must guarantee. Wants a storage without users. */
export async function installationRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { installation } = storage.repositories;

  await t.test(`${name}: the set-up code works once, also for many at once`, async (t) => {
    t.match(await installation.id(), /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    t.equal(await installation.id(), await installation.id());
    t.equal(await installation.setupRequired(), true);
    t.equal(await installation.spendSetupCode(hashOf('none yet')), false);
    const [first, second] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    await installation.setSetupCodeHash(hashOf(first));
    await installation.setSetupCodeHash(hashOf(second));
    const known = async (code: string): Promise<boolean> => await installation.isSetupCode(hashOf(code));
    t.same([await known(first), await known(second)], [false, true]);
    t.equal(await known(second), true, 'asking does not use it up');
    t.equal(await installation.spendSetupCode(hashOf(first)), false, 'the newer one has replaced it');
    const spent = await Promise.all(
      Array.from({ length: 6 }, () => installation.spendSetupCode(hashOf(second))),
    );
    t.equal(spent.filter(Boolean).length, 1);
    t.equal(await installation.spendSetupCode(hashOf(second)), false);
    t.equal(await known(second), false);
  });

  await t.test(`${name}: a spent code is back when its transaction is undone`, async (t) => {
    await installation.setSetupCodeHash(hashOf('again'));
    const failing = storage.inTransaction(async (tx) => {
      t.equal(await tx.installation.spendSetupCode(hashOf('again')), true);
      throw new Error('no');
    });
    await t.rejects(failing, { message: 'no' });
    t.equal(await installation.spendSetupCode(hashOf('again')), true);
  });

  await t.test(`${name}: with an administrator there is nothing to set up any more`, async (t) => {
    await storedUser(storage);
    t.equal(await installation.setupRequired(), true, 'a plain user is none');
    await storedUser(storage, { role: 'admin' });
    t.equal(await installation.setupRequired(), false);
    await installation.setSetupCodeHash(hashOf('late'));
    t.equal(await installation.spendSetupCode(hashOf('late')), false);
  });
}
