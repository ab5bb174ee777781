import t from 'tap';
import type { User } from '../../src/domain/user.ts';
import { type Page, UnknownPage } from '../../src/ports/page.ts';
import type { Storage } from '../../src/ports/repositories.ts';
import { aNewUser, NOBODY, randomName, storedUser } from '../support/stored.ts';

/** What keeping users must guarantee. */
export async function userRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { users } = storage.repositories;

  await t.test(`${name}: a user is kept as given, and found by id`, async (t) => {
    const guestUntil = new Date('2030-01-01T00:00:00.123Z');
    const asked = aNewUser({ email: null, tier: 'guest', guestUntil });
    const made = await users.insert(asked);
    if ('taken' in made) return t.fail(made.taken);
    t.match(made.user, {
      username: asked.username,
      email: null,
      role: 'user',
      tier: 'guest',
      guestUntil,
      disabledAt: null,
    });
    t.notOk('passwordHash' in made.user, 'the hash stays inside');
    t.same(await users.findById(made.user.id), made.user);
    t.equal(await users.findById(NOBODY), null);
  });

  await t.test(`${name}: email and username are taken in any case; guests have no email`, async (t) => {
    const { email, username } = await storedUser(storage);
    t.same(await users.insert(aNewUser({ email: email?.toUpperCase() ?? null })), { taken: 'email' });
    t.same(await users.insert(aNewUser({ username: username.toUpperCase(), email: null })), {
      taken: 'username',
    });
    await storedUser(storage, { email: null });
    await storedUser(storage, { email: null });
  });

  await t.test(`${name}: of many who take one name at once, one gets it`, async (t) => {
    const username = randomName();
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        users.insert(aNewUser({ username, email: `${n}-${username}@example.org` })),
      ),
    );
    t.equal(made.filter((one) => 'user' in one).length, 1);
  });

  await t.test(`${name}: a user signs in by email or username, in any case`, async (t) => {
    const user = await storedUser(storage, { passwordHash: 'secret' });
    for (const login of [user.email ?? '', user.username.toUpperCase(), (user.email ?? '').toUpperCase()]) {
      t.same(await users.findForLogin(login), { user, passwordHash: 'secret' }, login);
    }
    for (const login of ['', '%', '_', `${user.username} `, "' or ''='", 'nobody']) {
      t.equal(await users.findForLogin(login), null, JSON.stringify(login));
    }
  });

  await t.test(`${name}: changes are partial, and disabling again keeps the first time`, async (t) => {
    const user = await storedUser(storage);
    t.match(await users.change(user.id, { tier: 'pro' }), { ...user, tier: 'pro' });
    t.match(await users.change(user.id, { role: 'admin' }), { tier: 'pro', role: 'admin', disabledAt: null });
    const disabled = await users.change(user.id, { disabled: true });
    t.type(disabled?.disabledAt, Date);
    t.same((await users.change(user.id, { disabled: true, tier: 'free' }))?.disabledAt, disabled?.disabledAt);
    t.same(await users.change(user.id, { disabled: false, role: 'user' }), user);
    t.same(await users.findById(user.id), user);
    t.equal(await users.change(NOBODY, { tier: 'pro' }), null);
  });

  await t.test(`${name}: administrators are those that are not disabled`, async (t) => {
    const [admin, disabled, plain] = [
      await storedUser(storage, { role: 'admin' }),
      await storedUser(storage, { role: 'admin' }),
      await storedUser(storage),
    ];
    await users.change(disabled.id, { disabled: true });
    const ids = await storage.inTransaction((tx) => tx.users.lockAdmins());
    t.same(
      [admin, disabled, plain].map(({ id }) => ids.includes(id)),
      [true, false, false],
    );
  });

  await t.test(`${name}: pages follow each other without a gap or a repeat`, async (t) => {
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) made.push((await storedUser(storage)).id);
    const seen: string[] = [];
    let page: Page<User> = await users.page({ after: null, limit: 3 });
    for (; ; page = await users.page({ after: page.next, limit: 3 })) {
      seen.push(...page.items.map(({ id }) => id));
      if (page.next === null) break;
      t.equal(page.items.length, 3);
    }
    t.same(new Set(seen).size, seen.length);
    t.same(seen.slice(0, 7).sort(), [...made].sort(), 'the newest come first');
    for (const after of ['x', '', NOBODY, Buffer.from('1_x').toString('base64url')]) {
      await t.rejects(users.page({ after, limit: 3 }), UnknownPage, after);
    }
  });

  await t.test(`${name}: a transaction that throws leaves nothing`, async (t) => {
    const user = await storedUser(storage);
    const username = randomName();
    const failing = storage.inTransaction(async (tx) => {
      await tx.users.change(user.id, { tier: 'pro' });
      await tx.users.insert(aNewUser({ username }));
      t.equal((await tx.users.findById(user.id))?.tier, 'pro', 'seen inside');
      throw new Error('no');
    });
    await t.rejects(failing, { message: 'no' });
    t.equal((await users.findById(user.id))?.tier, 'free');
    t.equal(await users.findForLogin(username), null);
  });
}
