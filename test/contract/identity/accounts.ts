import { randomUUID } from 'node:crypto';
import t from 'tap';
import { DEFAULT_SETTINGS } from '../../../src/domain/settings.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import {
  aNewUser,
  atOnce,
  from,
  NOBODY,
  randomName,
  storedUser,
  trues,
} from '../../support/database/stored.ts';
import { waitForValue } from '../../support/patience.ts';
import { valuesOf } from '../../support/values.ts';

/** Guarantees of stored users. */
export async function userRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { users } = storage.repositories;

  await t.test(`${name}: a user is stored as given, and found by id`, async (t) => {
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

  await t.test(`${name}: email and username are unique in any case; guests have no email`, async (t) => {
    const { email, username } = await storedUser(storage);
    t.same(await users.insert(aNewUser({ email: email?.toUpperCase() ?? null })), { taken: 'email' });
    t.same(await users.insert(aNewUser({ username: username.toUpperCase(), email: null })), {
      taken: 'username',
    });
    await storedUser(storage, { email: null });
    await storedUser(storage, { email: null });
  });

  await t.test(`${name}: of concurrent registrations of one name, one succeeds`, async (t) => {
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
      const found = { user, passwordHash: 'secret', disabledReason: null, now: Date };
      t.match(await users.findForLogin(login), found, login);
    }
    for (const login of ['', '%', '_', `${user.username} `, "' or ''='", 'nobody']) {
      t.equal(await users.findForLogin(login), null, JSON.stringify(login));
    }
  });

  await t.test(`${name}: free usernames are those that nobody has, in any case`, async (t) => {
    const { username, email } = await storedUser(storage);
    const free = [`${username}-3`, email ?? '', `${username}-2`];
    t.same(
      await storage.repositories.people.freeUsernames([username.toUpperCase(), ...free, username]),
      free,
    );
  });

  await t.test(`${name}: changes are partial, and disabling twice keeps the first time`, async (t) => {
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

  await t.test(`${name}: only enabled administrators count`, async (t) => {
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

  await t.test(`${name}: a user can take any free name, whatever its letters`, async (t) => {
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const username = ada.username.toUpperCase();
    t.match(await users.rename(ada.id, username), { username });
    t.equal(await users.rename(ada.id, bob.username.toUpperCase()), null);
    t.match(await users.findById(ada.id), { username });
  });

  await t.test(`${name}: a password is replaced only by a caller who knows it`, async (t) => {
    const { id } = await storedUser(storage, { passwordHash: 'old' });
    t.equal(await users.changePassword(id, 'not it', 'new'), false);
    const done = await atOnce(storage, 8, (tx, n) => tx.users.changePassword(id, 'old', `new ${n}`));
    t.equal(trues(done), 1);
    t.match(await users.lockForSignIn(id), { user: { id }, passwordHash: /^new \d$/ });
    t.equal(await users.lockForSignIn(NOBODY), null);
  });

  await t.test(`${name}: a transaction that throws leaves nothing`, async (t) => {
    const { audit, events, settings } = storage.repositories;
    const user = await storedUser(storage);
    const username = randomName();
    const start = await events.end();
    const anEvent = { type: 'container_started', ownerId: user.id, data: {} } as const;
    const failing = storage.inTransaction(async (tx) => {
      await tx.users.change(user.id, { tier: 'pro' });
      await tx.users.insert(aNewUser({ username }));
      await tx.settings.change({ sessionIdleMinutes: 99 });
      await tx.audit.append({ userId: user.id, action: 'login', ...from, details: '' });
      await tx.events.append({ ...anEvent, dbId: NOBODY });
      t.equal((await tx.users.findById(user.id))?.tier, 'pro', 'seen inside');
      throw new Error('no');
    });
    await t.rejects(failing, { message: 'no' });
    t.equal((await users.findById(user.id))?.tier, 'free');
    t.equal(await users.findForLogin(username), null);
    t.same(await settings.read(), DEFAULT_SETTINGS);
    t.same((await audit.page({ userId: user.id }, { after: null, limit: 9 })).items, []);
    await events.append({ ...anEvent, dbId: user.id });
    const seen = await waitForValue(
      async () => valuesOf((await events.after(start, 99)).events, 'dbId'),
      (dbIds) => dbIds.includes(user.id),
    );
    t.notOk(seen.includes(NOBODY));
  });
}

/** Guarantees of stored settings, which are unchanged afterwards. */
export async function settingsRepositoryContract(name: string, { repositories }: Storage): Promise<void> {
  const { settings } = repositories;

  await t.test(`${name}: settings are the defaults until they are changed, one by one`, async (t) => {
    t.same(await settings.read(), DEFAULT_SETTINGS);
    const changed = await settings.change({ openRegistration: !DEFAULT_SETTINGS.openRegistration });
    t.same(changed, { ...DEFAULT_SETTINGS, openRegistration: !DEFAULT_SETTINGS.openRegistration });
    t.same(await settings.change({}), changed);
    t.same(await settings.change({ sessionIdleMinutes: 77 }), { ...changed, sessionIdleMinutes: 77 });
    t.same(await settings.read(), { ...changed, sessionIdleMinutes: 77 });
    t.same(await settings.change(DEFAULT_SETTINGS), DEFAULT_SETTINGS);
  });
}

/** Guarantees of stored SSH keys. */
export async function sshKeyRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { sshKeys } = storage.repositories;
  const aKey = (userId: string, fingerprint = `SHA256:${randomUUID()}`) => ({
    userId,
    name: 'laptop',
    type: 'ssh-ed25519',
    publicKey: 'ssh-ed25519 AAAA',
    fingerprint,
  });

  await t.test(`${name}: a user's key is stored once`, async (t) => {
    const [ada, eve] = [(await storedUser(storage)).id, (await storedUser(storage)).id];
    const asked = aKey(ada);
    const made = await Promise.all([sshKeys.insert(asked), sshKeys.insert(asked), sshKeys.insert(asked)]);
    const key = made.find((one) => one !== null);
    t.equal(made.filter((one) => one !== null).length, 1);
    t.match(key, { ...asked, id: String, createdAt: Date });
    t.equal(await sshKeys.insert(aKey(eve, asked.fingerprint)), null, 'nor by another user');
    const second = await sshKeys.insert(aKey(ada));
    t.same(valuesOf(await sshKeys.listOwned(ada), 'id'), [second?.id, key?.id], 'newest first');
    t.equal(await sshKeys.count(ada), 2);
    const found = await sshKeys.findByFingerprint(asked.fingerprint);
    t.match(found, { key: { id: key?.id, lastUsedAt: null }, user: { id: ada } });
    t.equal(await sshKeys.findByFingerprint(`SHA256:${randomUUID()}`), null);
    const at = new Date(1_700_000_000_000);
    await sshKeys.touch([{ id: key?.id ?? '', at }]);
    await sshKeys.touch([{ id: key?.id ?? '', at: new Date(at.getTime() - 1) }]);
    const [used] = await sshKeys.findAllByIdWithUser([key?.id ?? '', NOBODY]);
    t.same(used?.key, { ...key, lastUsedAt: at }, 'its last use is never set back');
    t.equal(await sshKeys.remove(key?.id ?? '', eve), null);
    t.equal(await sshKeys.remove(NOBODY, ada), null);
    t.same(await sshKeys.remove(key?.id ?? '', ada), { ...key, lastUsedAt: at });
    t.equal(await sshKeys.remove(key?.id ?? '', ada), null);
    t.equal(await sshKeys.count(ada), 1);
  });
  await t.test(`${name}: host keys are stored once per type`, async (t) => {
    const { sshHostKeys } = storage.repositories;
    const aHostKey = (secret: string) =>
      ({
        type: 'ssh-ed25519',
        publicKey: `ssh-ed25519 ${secret}`,
        sealedPrivateKey: Buffer.from(secret),
      }) as const;
    await sshHostKeys.insertMissing(aHostKey('first'));
    await sshHostKeys.insertMissing(aHostKey('second'));
    t.same(await sshHostKeys.list(), [aHostKey('first')]);
    await sshHostKeys.replace(aHostKey('second'), aHostKey('third'));
    t.same(await sshHostKeys.list(), [aHostKey('first')], 'only the one that was read is replaced');
    await sshHostKeys.replace(aHostKey('first'), aHostKey('third'));
    t.same(await sshHostKeys.list(), [aHostKey('third')]);
  });
}
