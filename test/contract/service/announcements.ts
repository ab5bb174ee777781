import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';

const MOST = 3;

/** Guarantees of stored announcements. Needs a storage without any, and leaves none. */
export async function announcementRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { announcements } = storage.repositories;
  const draft = (text: string, startsAt = new Date('2026-01-01T00:00:00Z')) =>
    ({ text, severity: 'info', startsAt, endsAt: null }) as const;
  const add = (text: string, startsAt?: Date) =>
    storage.inTransaction((tx) => tx.announcements.insert(draft(text, startsAt), MOST));

  await t.test(`${name}: an announcement is read as it was written and changed`, async (t) => {
    const early = await add('early');
    const late = await add('late', new Date('2026-02-01T00:00:00Z'));
    t.match(early, { ...draft('early'), createdAt: Date, updatedAt: Date });
    t.same(await announcements.list(), [late, early], 'the latest start first');
    const change = {
      ...draft('changed'),
      severity: 'warning',
      endsAt: new Date('2026-03-01T00:00:00Z'),
    } as const;
    const changed = await announcements.update(early?.id ?? '', change);
    t.match(changed, { ...change, id: early?.id, createdAt: early?.createdAt });
    t.ok(Number(changed?.updatedAt) >= Number(early?.updatedAt));
    t.same(await storage.inTransaction((tx) => tx.announcements.findForUpdate(early?.id ?? '')), changed);
    t.equal(await announcements.update(randomUUID(), change), null);
    t.equal(await announcements.findForUpdate(randomUUID()), null);
    for (const one of [early, late]) t.equal(await announcements.delete(one?.id ?? ''), true);
    t.equal(await announcements.delete(early?.id ?? ''), false, 'gone');
  });

  await t.test(`${name}: their number is limited, however many are added at once`, async (t) => {
    const made = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((text) => add(text)));
    t.equal(made.filter((one) => one !== null).length, MOST);
    const all = await announcements.list();
    t.equal(all.length, MOST);
    for (const { id } of all) await announcements.delete(id);
  });
}
