import { randomUUID } from 'node:crypto';
import t from 'tap';
import { volumeDue } from '../../../../src/domain/containers/volume-retention.ts';
import { ENDED_KINDS, TOKENS_PER_SESSION } from '../../../../src/ports/history-repository.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { from, hashOf, NOBODY, storedContainer, storedUser } from '../../../support/database/stored.ts';
import { valuesOf } from '../../../support/values.ts';
import { anOperation } from '../operations.ts';

/** Ages everything that has happened by this many days. */
export type AgeAll = (days: number) => Promise<void>;

/** Guarantees of the history cleanup. */
export async function historyContract(name: string, storage: Storage, age: AgeAll): Promise<void> {
  const {
    history,
    operations,
    sessions,
    refreshTokens,
    collaborations,
    participations,
    containers,
    layerImages: carried,
    retention,
    announcements,
    health,
  } = storage.repositories;
  const all = async (): Promise<void> => {
    for (const kind of ENDED_KINDS) while ((await history.forget(kind, 30, 100)) > 0);
  };
  const aUserId = async (): Promise<string> => (await storedUser(storage)).id;

  async function anOperationOf(dbId: string, userId: string, isFinished: boolean): Promise<string> {
    const owner = randomUUID();
    const operation = anOperation(dbId, userId, owner);
    await operations.begin(operation, 15);
    if (isFinished) await operations.finish(operation.id, owner, 'done');
    return operation.id;
  }

  async function aShareOf(dbId: string, ownerId: string, minutes: number) {
    const share = { id: randomUUID(), dbId, ownerId, mode: 'view', minutes } as const;
    await collaborations.insert({ ...share, codeHash: hashOf(share.id) });
    await participations.admit({ collaborationId: share.id, userId: await aUserId() });
    return share.id;
  }

  const areThere = (ids: readonly string[], find: (id: string) => Promise<unknown>) =>
    Promise.all(ids.map(async (id) => (await find(id)) !== null));
  /** `make` makes items and returns a way to look at them: they must be as in `before` on day 29, as in `after` on day 31. */
  const forgets = (what: string, make: () => Promise<() => unknown>, before: unknown, after: unknown) =>
    t.test(`${name}: ${what}`, async (t) => {
      const look = await make();
      await age(29);
      await all();
      t.same(await look(), before, 'not before');
      await age(2);
      await all();
      t.same(await look(), after);
    });

  await forgets(
    'a finished operation is forgotten after its days, an open one never',
    async () => {
      const userId = await aUserId();
      const { dbId } = await storedContainer(storage, userId);
      const ids = [await anOperationOf(dbId, userId, true), await anOperationOf(dbId, userId, false)];
      return () => areThere(ids, operations.find);
    },
    [true, true],
    [false, true],
  );

  await t.test(`${name}: an ended session is forgotten with its refresh tokens`, async (t) => {
    const userId = await aUserId();
    const signIn = async () => {
      const { id } = await sessions.insert({ userId, ...from });
      const token = hashOf(randomUUID());
      await refreshTokens.insert(token, id);
      return { id, token };
    };
    const [revoked, expires] = [await signIn(), await signIn()];
    await sessions.revoke(revoked.id, userId, 'test');
    const isKept = async ({ id, token }: { id: string; token: Buffer }): Promise<boolean> => {
      const [session, refresh] = [await sessions.findWithUser(id), await refreshTokens.lock(token)];
      t.equal(session === null, refresh === null, 'both or neither');
      return session !== null;
    };
    await age(29);
    await all();
    t.same([await isKept(revoked), await isKept(expires)], [true, true]);
    await age(2);
    await all();
    t.same(
      [await isKept(revoked), await isKept(expires)],
      [false, true],
      'one that has just expired is kept',
    );
    const late = await signIn();
    await age(30);
    await all();
    t.same([await isKept(expires), await isKept(late)], [false, true]);
  });

  await t.test(`${name}: many refresh tokens are removed in batches, then their session`, async (t) => {
    await age(100);
    await all();
    const userId = await aUserId();
    const { id } = await sessions.insert({ userId, ...from });
    const hashes = Array.from({ length: 3 * TOKENS_PER_SESSION }, () => hashOf(randomUUID()));
    for (const hash of hashes) await refreshTokens.insert(hash, id);
    await sessions.revoke(id, userId, 'test');
    await age(31);
    const left = async (): Promise<number> =>
      (await Promise.all(hashes.map((hash) => refreshTokens.lock(hash)))).filter(Boolean).length;
    for (const kept of [2, 1]) {
      t.equal(await history.forget('sessions', 30, 1), TOKENS_PER_SESSION);
      t.equal(await left(), kept * TOKENS_PER_SESSION);
      t.ok(await sessions.findWithUser(id), 'it stays as long as it has tokens');
    }
    t.equal(await history.forget('sessions', 30, 1), TOKENS_PER_SESSION + 1);
    t.same([await left(), await sessions.findWithUser(id)], [0, null]);
  });

  await forgets(
    'an ended or expired share is forgotten with its participants',
    async () => {
      const userId = await aUserId();
      const { dbId } = await storedContainer(storage, userId);
      const aShare = (minutes: number) => aShareOf(dbId, userId, minutes);
      const ids = [await aShare(60), await aShare(60), await aShare(60 * 24 * 365)];
      await collaborations.end(ids[0] ?? '');
      return () => areThere(ids, collaborations.find);
    },
    [true, true, true],
    [false, false, true],
  );

  const announce = (text: string, endsAt: Date | null) => {
    const draft = { text, severity: 'info', startsAt: new Date(0), endsAt } as const;
    return storage.inTransaction((tx) => tx.announcements.insert(draft, 99));
  };

  await forgets(
    'an ended announcement is forgotten, one without an end never',
    async () => {
      const lasts = await announce('lasts', null);
      await announce('ended', lasts?.createdAt ?? null);
      return async () => valuesOf(await announcements.list(), 'text').toSorted();
    },
    ['ended', 'lasts'],
    ['lasts'],
  );
  for (const { id } of await announcements.list()) await announcements.delete(id);

  const outages = async () => (await health.page('isolation', { after: null, limit: 9 })).items;
  await forgets(
    'an outage is forgotten long after its end',
    async () => {
      const { now: from } = await health.reports();
      const outage = { component: 'isolation', state: 'degraded', reason: 'open', detail: null } as const;
      await health.insert({ ...outage, from, to: from });
      await health.insert({ ...outage, from, to: null });
      return async () => (await outages()).length;
    },
    2,
    1,
  );
  for (const { id, from } of await outages()) await health.end(id, from);
  await age(31);
  await all();
  t.same(await outages(), [], 'the other is forgotten once it has ended');

  await t.test(`${name}: a deleted container and what it had go long after its volume`, async (t) => {
    const userId = await aUserId();
    const deleted = async () => {
      const { dbId } = await storedContainer(storage, userId);
      await anOperationOf(dbId, userId, true);
      await aShareOf(dbId, userId, 60 * 24 * 365);
      await carried.put(dbId, { image: `carried-${dbId}`, changes: null });
      await containers.changeState(dbId, ['running'], { state: 'deleted' });
      return dbId;
    };
    const live = (await storedContainer(storage, userId)).dbId;
    const gone = await deleted();
    await age(8);
    await retention.review(7);
    await age(2);
    await retention.claim(7);
    t.ok(await retention.markRemoved(gone));
    const kept = await deleted();
    await age(29);
    await all();
    t.ok(await containers.findAny(gone), 'not before');
    await age(2);
    await all();
    t.equal(await containers.findAny(gone), null);
    t.notOk((await carried.inUse()).has(`carried-${gone}`));
    t.ok(await containers.findAny(kept), 'one whose volume is there stays');
    t.ok(await containers.findAny(live));
  });

  await t.test(`${name}: forgetting goes in batches, oldest first, each by one process`, async (t) => {
    await all();
    const userId = await aUserId();
    const { dbId } = await storedContainer(storage, userId);
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      ids.push(await anOperationOf(dbId, userId, true));
      await age(1);
    }
    await age(31);
    t.equal(await history.forget('operations', 30, 2), 2);
    const left = () => areThere(ids, operations.find);
    t.same(await left(), [false, false, true, true, true, true]);
    const both = await Promise.all([1, 2].map(() => history.forget('operations', 30, 2)));
    await all();
    t.ok(both.reduce((sum, count) => sum + count) <= 4, 'none is counted twice');
    t.same(
      await left(),
      ids.map(() => false),
    );
  });
}

/** Ages the row's events by this many hours. */
export type Age = (dbId: string, hours: number) => Promise<void>;

const WEEK = 7 * 24;
const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

/** Guarantees of deleted containers' volumes. */
export async function volumeRetentionContract(name: string, storage: Storage, age: Age): Promise<void> {
  const { containers, deletedContainers, retention } = storage.repositories;
  const deleted = async () => {
    const box = await storedContainer(storage, (await storedUser(storage)).id);
    await containers.changeState(box.dbId, ['running'], { state: 'deleted' });
    return box;
  };
  const condemned = async () => {
    const box = await deleted();
    await age(box.dbId, WEEK);
    await retention.review(7);
    return box;
  };
  const claimed = async (days = 7) => (await retention.claim(days)).map(({ dbId }) => dbId);

  await t.test(`${name}: a volume is due a day after its retention has expired`, async (t) => {
    const { dbId, ownerId, volume } = await deleted();
    await age(dbId, WEEK - 1);
    await retention.review(7);
    await age(dbId, 1);
    t.same(await claimed(), [], 'not before it is condemned');
    await retention.review(7);
    await age(dbId, 23);
    t.same(await claimed(), []);
    await age(dbId, 1);
    t.same(await retention.claim(7), [{ dbId, ownerId, volume }]);
    t.same(await claimed(), [], 'nobody else gets it');
    t.ok(await retention.markRemoved(dbId));
    t.notOk(await retention.markRemoved(dbId), 'once only');
    await age(dbId, WEEK);
    await retention.review(7);
    t.same(await claimed(), []);
  });

  await t.test(`${name}: a claimed but unremoved volume is claimed again`, async (t) => {
    const { dbId } = await condemned();
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    await age(dbId, 0.1);
    t.same(await claimed(), []);
    await age(dbId, 0.1);
    await retention.review(7);
    t.same(await claimed(), [dbId]);
    t.ok(await retention.markRemoved(dbId));
  });

  await t.test(`${name}: a restore before that saves it, one after it finds nothing`, async (t) => {
    const { dbId, ownerId } = await condemned();
    t.match(await deletedContainers.findForUpdate(dbId, ownerId), { dbId });
    await containers.changeState(dbId, ['deleted'], { state: 'creating' });
    await containers.changeState(dbId, ['creating'], { state: 'deleted' });
    await age(dbId, 25);
    t.same(await claimed(), [], 'deleted again, its time begins anew');
    await age(dbId, WEEK);
    await retention.review(7);
    t.same(await claimed(), [], 'the day after its condemnation, too');
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    t.equal(await deletedContainers.findForUpdate(dbId, ownerId), null);
    t.ok(await retention.markRemoved(dbId));
    t.equal(await deletedContainers.findForUpdate(dbId, ownerId), null);
  });

  await t.test(`${name}: a longer retention spares a condemned volume`, async (t) => {
    const { dbId } = await condemned();
    await age(dbId, 24);
    t.same(await claimed(30), [], 'it holds for the removal as well');
    await retention.review(30);
    await retention.review(7);
    t.same(await claimed(), [], 'condemned anew, for another day');
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    await retention.markRemoved(dbId);
  });

  await t.test(`${name}: a longer retention spares no volume whose removal has begun`, async (t) => {
    const { dbId, ownerId } = await condemned();
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    await retention.review(30);
    t.equal(await deletedContainers.findForUpdate(dbId, ownerId), null, 'not while a process removes it');
    await age(dbId, 0.2);
    await retention.review(30);
    t.equal(await deletedContainers.findForUpdate(dbId, ownerId), null, 'nor after that: it may be gone');
    t.same(await claimed(), [dbId], 'the removal is repeated');
    t.ok(await retention.markRemoved(dbId));
  });

  await t.test(`${name}: a volume that is in use begins its retention anew`, async (t) => {
    const { dbId, ownerId } = await condemned();
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    await retention.keepAnew(dbId);
    const kept = await deletedContainers.findForUpdate(dbId, ownerId);
    t.match(kept, { dbId, deletedAt: Date });
    await retention.keepAnew(dbId);
    t.same(await deletedContainers.findForUpdate(dbId, ownerId), kept, 'a repeat changes nothing');
    await age(dbId, WEEK - 1);
    await retention.review(7);
    await age(dbId, 25);
    t.same(await claimed(), [], 'condemned only after the whole of it');
    await retention.review(7);
    await age(dbId, 24);
    t.same(await claimed(), [dbId]);
    t.ok(await retention.markRemoved(dbId));
    await retention.keepAnew(dbId);
    t.equal(await deletedContainers.findForUpdate(dbId, ownerId), null, 'what is removed stays so');
    const purged = await deleted();
    await retention.purge(purged.dbId);
    await retention.keepAnew(purged.dbId);
    t.same(await claimed(), [purged.dbId], 'and so does what was given up');
    t.ok(await retention.markRemoved(purged.dbId));
  });

  await t.test(`${name}: a live container's volume is never due`, async (t) => {
    const live = await storedContainer(storage, (await storedUser(storage)).id);
    await age(live.dbId, 100 * WEEK);
    await retention.review(0);
    await age(live.dbId, 100 * WEEK);
    t.notOk((await claimed(0)).includes(live.dbId));
    t.notOk(await retention.markRemoved(live.dbId));
    t.notOk(await retention.markRemoved(NOBODY));
  });

  await t.test(`${name}: a purged volume is due at once and not restorable`, async (t) => {
    const { dbId, ownerId } = await deleted();
    t.equal(await deletedContainers.countKept(ownerId), 1);
    t.match(await deletedContainers.listRestorable(ownerId), [{ dbId }]);
    await retention.purge(dbId);
    t.equal(await deletedContainers.findForUpdate(dbId, ownerId), null);
    t.same(await deletedContainers.listRestorable(ownerId), []);
    await retention.review(7);
    t.same(await claimed(), [dbId]);
    t.equal(await deletedContainers.countKept(ownerId), 1, 'it counts until its volume is gone');
    t.ok(await retention.markRemoved(dbId));
    t.equal(await deletedContainers.countKept(ownerId), 0);
  });

  await t.test(`${name}: what is removed is what the domain says is due`, async (t) => {
    const guestUntil = new Date('2100-01-01T00:00:00Z');
    const cases = [
      // hours from the delete to the review, and to the claim; retention in days; whose
      [WEEK - 1, 30, 7, {}],
      [WEEK, 23, 7, {}],
      [WEEK, 25, 7, {}],
      [WEEK, 25, 30, {}],
      [0, 25, 0, {}],
      [1, 0, 7, { isPurged: true }],
      [0, 0.8, 7, { isGuests: true }],
      [0, 0.9, 7, { isGuests: true }],
    ] as const;
    for (const [reviewedAt, waits, days, kind] of cases) {
      const owner = await storedUser(storage, 'isGuests' in kind ? { guestUntil } : {});
      const { dbId } = await storedContainer(storage, owner.id);
      await containers.changeState(dbId, ['running'], { state: 'deleted' });
      if ('isPurged' in kind) await retention.purge(dbId);
      await age(dbId, reviewedAt);
      await retention.review(Math.min(days, 7));
      await age(dbId, waits);
      const isCondemned = reviewedAt >= Math.min(days, 7) * 24;
      const volume = {
        deletedAt: hoursAgo(reviewedAt + waits),
        condemnedAt: isCondemned ? hoursAgo(waits) : null,
        ...kind,
      };
      const isDue = volumeDue(volume, days, new Date()) === 'remove';
      t.equal((await claimed(days)).includes(dbId), isDue, JSON.stringify([reviewedAt, waits, days, kind]));
      await retention.purge(dbId);
      await claimed();
      await retention.markRemoved(dbId);
    }
  });

  await t.test(`${name}: each due volume goes to one of concurrent claims`, async (t) => {
    const made = [await deleted(), await deleted(), await deleted()].map(({ dbId }) => dbId);
    for (const dbId of made) await age(dbId, WEEK);
    await retention.review(7);
    for (const dbId of made) await age(dbId, 24);
    const all = (await Promise.all([1, 2, 3, 4].map(() => claimed()))).flat();
    t.same(all.toSorted(), made.toSorted());
    const done = await Promise.all(made.flatMap((dbId) => [1, 2].map(() => retention.markRemoved(dbId))));
    t.equal(done.filter(Boolean).length, made.length);
  });
}
