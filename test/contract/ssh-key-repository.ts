import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../src/ports/repositories.ts';
import { NOBODY, storedUser } from '../support/stored.ts';

/** What keeping SSH keys must guarantee. */
export async function sshKeyRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { sshKeys } = storage.repositories;
  const aKey = (userId: string, fingerprint = `SHA256:${randomUUID()}`) => ({
    userId,
    name: 'laptop',
    type: 'ssh-ed25519',
    publicKey: 'ssh-ed25519 AAAA',
    fingerprint,
  });

  await t.test(`${name}: a key is kept for its user, once`, async (t) => {
    const [ada, eve] = [(await storedUser(storage)).id, (await storedUser(storage)).id];
    const asked = aKey(ada);
    const made = await Promise.all([sshKeys.insert(asked), sshKeys.insert(asked), sshKeys.insert(asked)]);
    const key = made.find((one) => one !== null);
    t.equal(made.filter((one) => one !== null).length, 1);
    t.match(key, { ...asked, id: String, createdAt: Date });
    t.ok(await sshKeys.insert(aKey(eve, asked.fingerprint)), 'another may have the same');
    const second = await sshKeys.insert(aKey(ada));
    t.same(
      (await sshKeys.listOwned(ada)).map(({ id }) => id),
      [second?.id, key?.id],
      'newest first',
    );
    t.equal(await sshKeys.count(ada), 2);
    t.equal(await sshKeys.remove(key?.id ?? '', eve), null);
    t.equal(await sshKeys.remove(NOBODY, ada), null);
    t.same(await sshKeys.remove(key?.id ?? '', ada), key);
    t.equal(await sshKeys.remove(key?.id ?? '', ada), null);
    t.equal(await sshKeys.count(ada), 1);
  });
}
