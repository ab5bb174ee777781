import { randomUUID } from 'node:crypto';
import type { Invitation, LinkPurpose } from '../../../src/domain/identity/people/account-link.ts';
import { NameTaken } from '../../../src/ports/containers/container-repository.ts';
import type { Person } from '../../../src/ports/identity/people/person-repository.ts';
import { type Page, UnknownPage } from '../../../src/ports/pagination.ts';
import {
  atOnce,
  from,
  hashOf,
  NOBODY,
  type OpenedStorage,
  onStorage,
  storedContainer,
  storedUser,
  trues,
} from '../../support/database/stored.ts';

const INVITATION: Invitation = {
  role: 'user',
  tier: 'free',
  email: 'new@example.org',
  username: null,
  accountEndsAt: null,
};
const invited: LinkPurpose = { kind: 'invitation', ...INVITATION, madeUserId: null };

/** Guarantees of what administrators see of users, and of the links that they make. */
export function peopleContract(name: string, storage: OpenedStorage): void {
  const test = onStorage(name, storage);

  test('the list of people has neither gaps nor repeats', async (t, { users, people }, storage) => {
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) made.push((await storedUser(storage)).id);
    const seen: string[] = [];
    let page: Page<Person> = await people.page({ after: null, limit: 3 });
    for (; ; page = await people.page({ after: page.next, limit: 3 })) {
      seen.push(...page.items.map(({ user }) => user.id));
      if (page.next === null) break;
      t.equal(page.items.length, 3);
    }
    t.same(new Set(seen).size, seen.length);
    const reverse: string[] = [];
    let after: string | null = null;
    do {
      const part: Page<Person> = await people.page({ after, limit: 3, oldestFirst: true });
      reverse.push(...part.items.map(({ user }) => user.id));
      after = part.next;
    } while (after !== null);
    t.same(reverse.filter((id) => made.includes(id)).reverse(), seen.slice(0, 7));
    t.same(seen.slice(0, 7).sort(), [...made].sort(), 'the newest come first');
    const newest = seen[0] ?? '';
    await users.change(newest, { role: 'admin', tier: 'pro' });
    const chosen = async (filter: object) =>
      (await people.page({ after: null, limit: 200 }, filter)).items.map(({ user }) => user.id);
    t.ok((await chosen({ role: 'admin', tier: 'pro' })).includes(newest));
    t.notOk((await chosen({ role: 'user' })).includes(newest));
    t.notOk((await chosen({ role: 'admin', tier: 'free' })).includes(newest));
    await users.change(newest, { role: 'user', tier: 'free' });
    const { username } = (await people.find(newest))?.user ?? { username: '' };
    t.same(await chosen({ search: username.slice(2).toUpperCase() }), [newest], 'by a part of the name');
    t.same(await chosen({ search: newest.toUpperCase() }), [newest], 'by the id');
    t.same(await chosen({ search: newest.slice(0, 8) }), [], 'not by a part of the id');
    for (const search of ['%', '_', '\\\\']) t.same(await chosen({ search }), [], `no pattern: ${search}`);
    for (const bad of ['x', '', NOBODY, Buffer.from('1_x').toString('base64url')]) {
      await t.rejects(people.page({ after: bad, limit: 3 }), UnknownPage, bad);
    }
  });

  test('a person has the facts that administrators see', async (t, repositories, storage) => {
    const { users, people, sessions, factors } = repositories;
    const fresh = await storedUser(storage, { passwordHash: null });
    t.match(await people.find(fresh.id), {
      user: fresh,
      disabledReason: null,
      lastSeenAt: null,
      containers: 0,
      maxContainers: 5,
      mfaEnabled: false,
      hasPassword: false,
    });
    await users.setPassword(fresh.id, 'hash');
    await storedContainer(storage, fresh.id);
    await sessions.insert({ userId: fresh.id, ...from });
    await factors.putPendingTotp(fresh.id, Buffer.from('secret'));
    t.match(await people.find(fresh.id), {
      containers: 1,
      lastSeenAt: Date,
      mfaEnabled: false,
      hasPassword: true,
    });
    await factors.confirmTotp(fresh.id, Buffer.from('secret'), 1);
    await users.change(fresh.id, { disabled: true, disabledReason: 'left' });
    t.match(await people.find(fresh.id), { mfaEnabled: true, disabledReason: 'left' });
    t.match(await users.lockForSignIn(fresh.id), { passwordHash: 'hash', disabledReason: 'left' });
    await users.change(fresh.id, { tier: 'pro' });
    t.match(await people.find(fresh.id), { maxContainers: 10, disabledReason: 'left' });
    await users.change(fresh.id, { disabled: false });
    t.match(await people.find(fresh.id), { disabledReason: null, user: { disabledAt: null } });
    t.equal(await people.find(NOBODY), null);
  });

  test('an account that has ended is found until it is disabled', async (t, { users, people }, storage) => {
    const { id } = await storedUser(storage);
    const now = (await users.lockForSignIn(id))?.now.getTime() ?? 0;
    const [past, future] = [new Date(now - 60_000), new Date(now + 3_600_000)];
    const ended = await storedUser(storage, { endsAt: past });
    const later = await storedUser(storage, { endsAt: future });
    t.same((await users.findById(ended.id))?.endsAt, past);
    t.match(await users.lockForSignIn(ended.id), { user: { endsAt: past, disabledAt: null }, now: Date });
    const found = async () =>
      (await people.ended(null, 1_000)).filter((id) => [ended.id, later.id].includes(id));
    t.same(await found(), [ended.id]);
    const other = await storedUser(storage, { endsAt: past });
    const all = await people.ended(null, 1_000);
    t.same([...all].sort(), all, 'in order');
    const [first = '', second] = all;
    t.same([await people.ended(null, 1), await people.ended(first, 1)], [[first], [second]]);
    t.same(await people.ended(all.at(-1) ?? '', 1), []);
    await users.change(other.id, { disabled: true });
    await users.change(ended.id, { endsAt: null });
    await users.change(later.id, { endsAt: past, tier: 'pro' });
    t.same(await found(), [later.id], 'changed, and removed');
    await users.change(later.id, { disabled: true });
    t.same(await found(), []);
    t.same((await users.findById(later.id))?.endsAt, past, 'it stays');
  });

  /** A stored link of a new administrator, and its code's hash. */
  const aLink = async (purpose: LinkPurpose = invited, hours = 1) => {
    const creator = await storedUser(storage);
    const codeHash = hashOf(randomUUID());
    const { accountLinks } = storage.repositories;
    return {
      creator,
      codeHash,
      ...(await accountLinks.insert({ codeHash, purpose, createdBy: creator.id }, hours)),
    };
  };

  test('a link is found by its code while it is open', async (t, { accountLinks }, storage) => {
    const { id: userId, username } = await storedUser(storage);
    const { link, codeHash, creator } = await aLink({ kind: 'password', userId });
    t.match(link, {
      purpose: { kind: 'password', userId },
      createdBy: creator.id,
      usedAt: null,
      withdrawnAt: null,
    });
    for (const found of [await accountLinks.findOpen(codeHash), await accountLinks.lockOpen(codeHash)]) {
      t.match(found, { link, username, creatorName: creator.username, now: Date });
    }
    t.equal(await accountLinks.findOpen(hashOf('another')), null);
    const late = await aLink(invited, 0);
    t.equal(await accountLinks.findOpen(late.codeHash), null, 'expired');
    t.equal(await accountLinks.use(late.link.id, userId), false);
    const accountEndsAt = new Date(Date.now() + 3_600_000);
    const ending: LinkPurpose = { kind: 'invitation', ...INVITATION, accountEndsAt, madeUserId: null };
    const open = await aLink(ending);
    t.match(open.link.purpose, ending);
    const before = await accountLinks.countOpen();
    t.equal(await accountLinks.withdraw(open.link.id, ['password']), false, 'of another kind');
    t.equal(await accountLinks.withdraw(open.link.id, ['invitation']), true);
    t.equal(await accountLinks.withdraw(open.link.id, ['invitation']), true, 'again');
    t.equal(await accountLinks.findOpen(open.codeHash), null, 'withdrawn');
    t.equal(await accountLinks.countOpen(), before - 1);
    const usable = await aLink();
    const listed = await accountLinks.page(['invitation'], { after: null, limit: 200, onlyOpen: true });
    const ids = listed.items.map(({ link: { id } }) => id);
    t.equal(ids[0], usable.link.id);
    for (const ended of [late, open]) t.notOk(ids.includes(ended.link.id));
    t.equal(await accountLinks.withdraw(NOBODY, ['invitation']), false);
  });

  test('a link is used once, however many try at the same time', async (t, { accountLinks }, storage) => {
    const { id: userId } = await storedUser(storage);
    const { link, codeHash } = await aLink();
    t.equal(trues(await atOnce(storage, 8, (tx) => tx.accountLinks.use(link.id, userId))), 1);
    t.equal(await accountLinks.findOpen(codeHash), null);
    t.equal(await accountLinks.withdraw(link.id, ['invitation']), false, 'used');
    const { items } = await accountLinks.page(['invitation'], { after: null, limit: 200 });
    const listed = items.find((one) => one.link.id === link.id);
    t.match(listed?.link, { usedAt: Date, purpose: { ...invited, madeUserId: userId } });
  });

  test("a user's links end together, and lists have no gaps", async (t, { accountLinks }, storage) => {
    const { id: userId } = await storedUser(storage);
    const used = await aLink({ kind: 'password', userId });
    t.equal(await accountLinks.lastReset(userId), null);
    await accountLinks.use(used.link.id, userId);
    const mine = await aLink({ kind: 'second_factor', userId });
    const other = await aLink();
    t.ok((await accountLinks.lastReset(userId)) instanceof Date);
    await accountLinks.withdrawFor(userId);
    t.equal(await accountLinks.findOpen(mine.codeHash), null);
    t.ok(await accountLinks.findOpen(other.codeHash));
    await accountLinks.withdrawBy(other.creator.id);
    t.equal(await accountLinks.findOpen(other.codeHash), null);
    const kinds = ['password', 'second_factor'] as const;
    const all = await accountLinks.page(kinds, { after: null, limit: 200 });
    t.equal(all.items[0]?.link.id, mine.link.id, 'the newest comes first');
    t.notOk(
      all.items.some(({ link }) => link.id === other.link.id),
      'only these kinds',
    );
    const first = await accountLinks.page(kinds, { after: null, limit: 1 });
    const second = await accountLinks.page(kinds, { after: first.next, limit: 1 });
    t.same(
      [...first.items, ...second.items].map(({ link }) => link.id),
      all.items.slice(0, 2).map(({ link }) => link.id),
    );
    await t.rejects(accountLinks.page(kinds, { after: 'x', limit: 1 }), UnknownPage);
  });

  test('a deleted user is gone but for the row, and the names are free', async (t, repositories, storage) => {
    const { users, people, userRemovals, passkeys, sshKeys } = repositories;
    const [admin, ada] = [await storedUser(storage), await storedUser(storage, { role: 'admin' })];
    await sshKeys.insert({
      userId: ada.id,
      name: 'x',
      type: 'ssh-ed25519',
      publicKey: 'x',
      fingerprint: ada.id,
    });
    const removal = {
      userId: ada.id,
      plan: { kind: 'delete' },
      requestedBy: admin.id,
      origin: from,
    } as const;
    t.equal(await userRemovals.finish(ada.id), false, 'not begun');
    await userRemovals.begin(removal);
    await userRemovals.begin({ ...removal, plan: { kind: 'transfer', toUserId: admin.id } });
    t.same(await userRemovals.find(ada.id), removal, 'the first one counts');
    t.ok((await userRemovals.list()).some(({ userId }) => userId === ada.id));
    t.match(await people.find(ada.id), { isBeingDeleted: true });
    const target = (await storedUser(storage)).id;
    const other = { ...removal, userId: (await storedUser(storage)).id };
    await userRemovals.begin({ ...other, plan: { kind: 'transfer', toUserId: target } });
    t.same(
      [await userRemovals.transfersTo(target), await userRemovals.transfersTo(admin.id)],
      [true, false],
      'only by the plan that counts',
    );
    await userRemovals.finish(other.userId);
    t.notOk(await userRemovals.transfersTo(target));
    const done = await atOnce(storage, 4, (tx) => tx.userRemovals.finish(ada.id));
    t.equal(trues(done), 1);
    t.equal(await userRemovals.find(ada.id), null);
    t.same(
      [await users.lock(ada.id), await users.lock(admin.id), await users.lock(NOBODY)],
      [false, true, false],
    );
    for (const gone of [
      await users.findById(ada.id),
      await people.find(ada.id),
      await users.findForLogin(ada.username),
      await users.findForLogin(ada.email ?? ''),
    ]) {
      t.equal(gone, null);
    }
    t.same([await sshKeys.listOwned(ada.id), await passkeys.listOf(ada.id)], [[], []]);
    const { items } = await people.page({ after: null, limit: 200 }, { search: ada.username });
    t.same(items, []);
    const { username } = await storedUser(storage, { username: ada.username });
    t.equal(username, ada.username);
  });

  test('a container without a change in progress is transferred to another user', async (t, repositories, storage) => {
    const { containers } = repositories;
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const [mine, his] = [await storedContainer(storage, ada.id), await storedContainer(storage, bob.id)];
    await t.rejects(containers.transfer(mine.dbId, ada.id, bob.id, his.name), NameTaken);
    t.equal(await containers.transfer(mine.dbId, bob.id, ada.id, 'x'), null, "not that user's");
    const transferred = await containers.transfer(mine.dbId, ada.id, bob.id, 'given');
    t.match(transferred, {
      dbId: mine.dbId,
      ownerId: bob.id,
      ownerUsername: bob.username,
      name: 'given',
      state: 'running',
    });
    t.same([await containers.countLive(ada.id), await containers.countLive(bob.id)], [0, 2]);
    await containers.changeState(mine.dbId, ['running'], { state: 'stopping' });
    t.equal(await containers.transfer(mine.dbId, bob.id, ada.id, 'x'), null, 'a change is in progress');
    t.equal(await containers.transfer(NOBODY, ada.id, bob.id, 'x'), null);
  });
}
