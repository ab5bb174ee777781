import { sql } from 'kysely';
import t from 'tap';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { freshDatabase } from '../support/database.ts';
import { blockedIn } from '../support/locks.ts';

const idOf = (n: number): string => `${n}0000000-0000-4000-8000-000000000000`;

t.test('revoking sessions while their uses are written makes nobody wait in a circle', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const { users, sessions } = postgresStorage(db).repositories;
  const person = { email: null, username: 'ada', passwordHash: null, role: 'user', tier: 'free' } as const;
  const made = await users.insert({ ...person, guestUntil: null });
  if ('taken' in made) return t.fail('the name is taken');
  const userId = made.user.id;
  // The first to be made has the last id, so that reading them as they lie is the other order.
  for (const n of [3, 2, 1]) {
    const { id } = await sessions.insert({ userId, ipAddress: '127.0.0.1', userAgent: '' });
    await sql`update sessions set id = ${idOf(n)} where id = ${id}`.execute(db);
  }
  await sql`vacuum full sessions`.execute(db);
  const at = new Date(Date.now() + 60_000);
  const both = await db.transaction().execute(async (trx) => {
    await sql`select 1 from sessions where id = ${idOf(2)} for update`.execute(trx);
    const writing = sessions.touch([1, 2, 3].map((n) => ({ id: idOf(n), at })));
    const revoking = sessions.revokeOthers(userId, null, 'test');
    await blockedIn(db)(2);
    return [writing, revoking] as const;
  });
  await t.resolves(both[0]);
  t.same((await both[1]).toSorted(), [1, 2, 3].map(idOf));
  const listed = await sessions.listOwned(userId);
  t.same(
    listed.sessions.map(({ lastSeenAt }) => lastSeenAt),
    [at, at, at],
  );
});
