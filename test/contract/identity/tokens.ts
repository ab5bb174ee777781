import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { UNLIMITED } from '../../../src/app/identity/account/token-records.ts';
import type { RequestCountStore } from '../../../src/ports/identity/request-count-store.ts';
import type { NewToken } from '../../../src/ports/identity/token-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { NOBODY, storedUser } from '../../support/database/stored.ts';
import { valuesOf } from '../../support/values.ts';

const DAY_MS = 86_400_000;

/** Guarantees of stored API tokens. `advance` lets that many milliseconds pass. */
export async function tokenRepositoryContract(
  name: string,
  storage: Storage,
  advance: (ms: number) => Promise<void>,
): Promise<void> {
  const { tokens } = storage.repositories;

  const aRequest = (userId: string, over: Partial<NewToken> = {}): NewToken => ({
    userId,
    name: 'ci',
    prefix: 'svc_01234567',
    scopes: ['read', 'write'],
    hash: randomBytes(32),
    lifeMs: null,
    ...UNLIMITED,
    ...over,
  });

  await t.test(`${name}: a token is stored as requested, with its life from now`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const made = await tokens.insert(
      aRequest(userId, { name: "O'Neil 😀", scopes: ['admin'], lifeMs: 1500 }),
    );
    t.match(made, {
      userId,
      name: "O'Neil 😀",
      prefix: 'svc_01234567',
      scopes: ['admin'],
      lastUsedAt: null,
      revokedAt: null,
    });
    t.equal(made.expiresAt?.getTime(), made.createdAt.getTime() + 1500);
    t.notOk('hash' in made);
    t.equal((await tokens.insert(aRequest(userId))).expiresAt, null);
  });

  await t.test(`${name}: tokens are found by hash, with their user and the time`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const [first, second] = [aRequest(ada.id), aRequest(eve.id)];
    const made = [await tokens.insert(first), await tokens.insert(second)];
    await tokens.revoke(made[1]?.id ?? '', eve.id);
    const found = await tokens.findWithUser([first.hash, randomBytes(32), second.hash]);
    t.same(new Set(found.map(({ hash }) => hash.toString('hex'))).size, 2);
    const hers = found.find(({ hash }) => hash.equals(first.hash));
    t.same(hers?.token, made[0]);
    t.same(hers?.user, ada, 'without her password');
    t.ok(hers && hers.now.getTime() >= hers.token.createdAt.getTime());
    t.type(hers?.requestsPerMinute, 'number');
    t.ok(found.find(({ hash }) => hash.equals(second.hash))?.token.revokedAt, 'whatever their state');
    t.same(await tokens.findWithUser([randomBytes(32)]), []);
    t.same(valuesOf(await tokens.findAllByIdWithUser([made[0]?.id ?? '', NOBODY]), 'token'), [made[0]]);
  });

  await t.test(`${name}: a token comes with the request limit of the settings`, async (t) => {
    const request = aRequest((await storedUser(storage)).id);
    await tokens.insert(request);
    const { requestsPerMinute } = await storage.repositories.settings.read();
    t.match(await tokens.findWithUser([request.hash]), [{ requestsPerMinute }]);
    await storage.repositories.settings.change({ requestsPerMinute: 7 });
    t.match(await tokens.findWithUser([request.hash]), [{ requestsPerMinute: 7 }]);
    await storage.repositories.settings.change({ requestsPerMinute });
  });

  await t.test(`${name}: a list has the user's own, newest first, including ended ones`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      ids.unshift((await tokens.insert(aRequest(userId, i === 0 ? { lifeMs: 1 } : {}))).id);
      await advance(5);
    }
    await tokens.insert(aRequest((await storedUser(storage)).id));
    await tokens.revoke(ids[1] ?? '', userId);
    await tokens.touch([{ id: ids[2] ?? '', at: new Date() }]);
    t.same(valuesOf(await tokens.listOwned(userId), 'id'), ids);
    t.same(await tokens.listOwned(NOBODY), []);
  });

  await t.test(`${name}: live tokens are counted separately`, async (t) => {
    const { id: userId } = await storedUser(storage);
    t.same(await tokens.count(userId), { live: 0, stored: 0 });
    const revoked = await tokens.insert(aRequest(userId));
    await tokens.insert(aRequest(userId, { lifeMs: 1 }));
    await tokens.insert(aRequest(userId, { lifeMs: 3_600_000 }));
    await tokens.insert(aRequest(userId));
    await tokens.revoke(revoked.id, userId);
    await advance(10);
    t.same(await tokens.count(userId), { live: 2, stored: 4 });
  });

  await t.test(`${name}: the first revocation counts, and only its owner's`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const { id } = await tokens.insert(aRequest(userId));
    t.equal(await tokens.revoke(id, NOBODY), null);
    t.equal(await tokens.revoke(NOBODY, userId), null);
    const both = await Promise.all([tokens.revoke(id, userId), tokens.revoke(id, userId)]);
    t.same(both.map((one) => one?.changed).sort(), [false, true], 'one of two at once');
    await advance(10);
    const again = await tokens.revoke(id, userId);
    t.match(again, { changed: false, token: { id } });
    t.same(again?.token.revokedAt, both[0]?.token.revokedAt);
    await tokens.touch([{ id, at: new Date() }]);
    t.match(
      await tokens.listOwned(userId),
      [{ revokedAt: again?.token.revokedAt }],
      'a use does not undo it',
    );
  });

  await t.test(`${name}: a delete removes the row, for its owner only`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const made = await tokens.insert(aRequest(userId));
    t.equal(await tokens.delete(made.id, NOBODY), null);
    t.same(await tokens.delete(made.id, userId), { token: made, descendants: [] });
    t.equal(await tokens.delete(made.id, userId), null);
    t.same(await tokens.listOwned(userId), []);
  });

  /** A token, its child, its grandchild, and a second child, with a token beside them. */
  const aTree = async (userId: string) => {
    const child = (parentId: string, depth: number) => tokens.insert(aRequest(userId, { parentId, depth }));
    const root = await tokens.insert(aRequest(userId));
    const first = await child(root.id, 1);
    return {
      root,
      first,
      grandchild: await child(first.id, 2),
      second: await child(root.id, 1),
      beside: await tokens.insert(aRequest(userId)),
    };
  };
  const ended = async (userId: string) =>
    new Map(
      (await tokens.listOwned(userId)).map((one) => [one.id, [one.revokedAt !== null, one.revokedReason]]),
    );

  await t.test(`${name}: a revoked token takes all its descendants along, and no other`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const { root, first, grandchild, second, beside } = await aTree(userId);
    t.equal(await tokens.revoke(first.id, NOBODY), null);
    const one = await tokens.revoke(first.id, userId);
    t.same([one?.changed, one?.descendants.map(({ id }) => id)], [true, [grandchild.id]]);
    const other = await tokens.revoke(root.id, userId);
    t.same(
      other?.descendants.map(({ id }) => id),
      [second.id],
      'those that ended before are not named again',
    );
    const all = await ended(userId);
    t.same(all.get(root.id), [true, null]);
    t.same(all.get(first.id), [true, null]);
    t.same(all.get(grandchild.id), [true, 'parent_revoked']);
    t.same(all.get(second.id), [true, 'parent_revoked']);
    t.same(all.get(beside.id), [false, null]);
    t.same((await tokens.revoke(root.id, userId))?.descendants, []);
  });

  await t.test(`${name}: a deleted token leaves its descendants, revoked`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const { root, first, grandchild, second, beside } = await aTree(userId);
    const gone = await tokens.delete(root.id, userId);
    t.same(new Set(gone?.descendants.map(({ id }) => id)), new Set([first.id, grandchild.id, second.id]));
    const all = await ended(userId);
    t.notOk(all.has(root.id));
    for (const { id } of [first, grandchild, second]) t.same(all.get(id), [true, 'parent_deleted']);
    t.same(all.get(beside.id), [false, null]);
    const parents = (await tokens.listOwned(userId)).map(({ id, parentId }) => [id, parentId]);
    t.same(new Map(parents as [string, string][]).get(first.id), null);
    t.same(new Map(parents as [string, string][]).get(grandchild.id), first.id);
  });

  await t.test(`${name}: the children that ended first are forgotten, and nothing else`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const [live, revoked] = [await tokens.insert(aRequest(userId)), await tokens.insert(aRequest(userId))];
    const below = { parentId: live.id, depth: 1 };
    const made: string[] = [];
    for (const end of [{ lifeMs: 1 }, { maxUses: 1, usesLeft: 1 }, {}, {}, {}]) {
      const { id, createdAt } = await tokens.insert(aRequest(userId, { ...below, ...end }));
      if (end.usesLeft === 1) await tokens.touch([{ id, at: createdAt }]);
      made.push(id);
      await advance(5);
    }
    const [expired = '', usedUp = '', last = '', first = '', child = ''] = made;
    await tokens.take(usedUp);
    for (const id of [revoked.id, first, last]) {
      await tokens.revoke(id, userId);
      await advance(5);
    }
    t.equal(await tokens.forgetEndedChildren(NOBODY, 0), 0);
    t.equal(await tokens.forgetEndedChildren(userId, 3), 0, 'a used-up one may still run its last request');
    t.equal(await tokens.forgetEndedChildren(userId, 2), 1);
    t.notOk((await ended(userId)).has(expired));
    t.equal(await tokens.forgetEndedChildren(userId, 1), 1);
    t.notOk((await ended(userId)).has(first), 'the later made of two that was revoked first');
    await advance(DAY_MS + 1);
    t.equal(await tokens.forgetEndedChildren(userId, 1), 1);
    t.same([...(await ended(userId)).keys()].sort(), [live.id, revoked.id, last, child].sort());
  });

  await t.test(`${name}: a token keeps its limits, and never outlives the given end`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const containers = [randomUUID(), randomUUID()];
    const limits = { containers, maxUses: 3, usesLeft: 3 };
    const notAfter = new Date(Date.now() + 60_000);
    const made = await tokens.insert(aRequest(userId, { ...limits, lifeMs: 3_600_000, notAfter }));
    t.match(made, { ...limits, expiresAt: notAfter });
    const request = aRequest(userId, { lifeMs: 1_000, notAfter });
    const brief = await tokens.insert(request);
    t.equal(
      brief.expiresAt?.getTime(),
      brief.createdAt.getTime() + 1_000,
      'an earlier end of its own counts',
    );
    t.same((await tokens.insert(aRequest(userId, { notAfter }))).expiresAt, notAfter);
    t.match(await tokens.findAllByIdWithUser([made.id]), [{ token: limits }]);
  });

  await t.test(`${name}: of concurrent requests, as many as are left get one use each`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const counted = await tokens.insert(aRequest(userId, { maxUses: 5, usesLeft: 5 }));
    const taken = await Promise.all(Array.from({ length: 20 }, () => tokens.take(counted.id)));
    t.same(taken.filter((left) => left !== null).sort(), [0, 1, 2, 3, 4]);
    t.same(await tokens.count(userId), { live: 0, stored: 1 }, 'a used-up one is not live');
    const plain = await tokens.insert(aRequest(userId));
    t.equal(await tokens.take(plain.id), null, 'a token without a count has none to take');
    const revoked = await tokens.insert(aRequest(userId, { maxUses: 5, usesLeft: 5 }));
    await tokens.revoke(revoked.id, userId);
    t.equal(await tokens.take(revoked.id), null);
    t.equal(await tokens.take(NOBODY), null);
  });

  await t.test(`${name}: uses are written in one batch, with their times, and never move back`, async (t) => {
    const { id: userId } = await storedUser(storage);
    const [a, b] = [await tokens.insert(aRequest(userId)), await tokens.insert(aRequest(userId))];
    const at = (ms: number): Date => new Date(Date.parse('2030-01-01T00:00:00Z') + ms);
    const uses = async () => {
      const list = await tokens.listOwned(userId);
      return [a, b].map(({ id }) => list.find((one) => one.id === id)?.lastUsedAt);
    };
    await tokens.touch([
      { id: a.id, at: at(0) },
      { id: b.id, at: at(5) },
      { id: NOBODY, at: at(9) },
    ]);
    t.same(await uses(), [at(0), at(5)]);
    await tokens.touch([
      { id: a.id, at: at(1) },
      { id: b.id, at: at(4) },
    ]);
    t.same(await uses(), [at(1), at(5)]);
  });
}

/** Guarantees of request counts over all processes. */
export async function requestCountsContract(name: string, counts: RequestCountStore): Promise<void> {
  await t.test(`${name}: a key's counts in a minute add up, beside the previous minute's`, async (t) => {
    const first = await counts.add([
      { key: 'a', minute: 10, count: 3 },
      { key: 'b', minute: 11, count: 1 },
    ]);
    t.ok(first.now instanceof Date);
    t.same(
      new Set(first.tallies.map(({ key, count, countBefore }) => `${key} ${count} ${countBefore}`)),
      new Set(['a 3 0', 'b 1 0']),
    );
    const { tallies } = await counts.add([{ key: 'a', minute: 10, count: 4 }]);
    t.same(tallies, [{ key: 'a', minute: 10, count: 7, countBefore: 0 }]);
    const next = await counts.add([{ key: 'a', minute: 11, count: 2 }]);
    t.same(next.tallies, [{ key: 'a', minute: 11, count: 2, countBefore: 7 }]);
  });

  await t.test(`${name}: concurrent additions all count`, async (t) => {
    const keys = ['x', 'y', 'z'].map((key) => ({ key, minute: 20, count: 1 }));
    await Promise.all(Array.from({ length: 20 }, (_, i) => counts.add(i % 2 ? keys : keys.toReversed())));
    const { tallies } = await counts.add(keys);
    t.same(valuesOf(tallies, 'count'), [21, 21, 21]);
  });

  await t.test(`${name}: old minutes are removed`, async (t) => {
    await counts.add([
      { key: 'old', minute: 30, count: 5 },
      { key: 'old', minute: 31, count: 5 },
    ]);
    await counts.forgetBefore(31);
    const { tallies } = await counts.add([
      { key: 'old', minute: 30, count: 1 },
      { key: 'old', minute: 32, count: 1 },
    ]);
    t.same(tallies.map(({ count, countBefore }) => [count, countBefore]).sort(), [
      [1, 0],
      [1, 5],
    ]);
  });
}
