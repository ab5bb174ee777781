import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { atOnce, from, hashOf, storedUser, trues } from '../../support/database/stored.ts';

/** Guarantees of stored refresh tokens. */
export async function refreshTokenRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { sessions, refreshTokens } = storage.repositories;

  await t.test(`${name}: a refresh token is spent with its client, and waits for its turn`, async (t) => {
    const session = await sessions.insert({ userId: (await storedUser(storage)).id, ...from });
    const hash = hashOf(randomUUID());
    await refreshTokens.insert(hash, session.id);
    const unspent = { sessionId: session.id, spentAt: null, spentBy: null, now: Date };
    t.match(await refreshTokens.lock(hash), unspent);
    t.equal(await refreshTokens.lock(hashOf(randomUUID())), null);
    const spent = await atOnce(storage, 6, async (tx) => {
      const token = await tx.refreshTokens.lock(hash);
      if (token?.spentAt !== null) return false;
      await tx.refreshTokens.spend(hash, 'browser');
      return true;
    });
    t.equal(trues(spent), 1, 'one of many');
    t.match(await refreshTokens.lock(hash), { spentAt: Date, spentBy: 'browser' });
  });
}
