import { randomUUID } from 'node:crypto';
import t from 'tap';
import { SESSION_LIFE_DAYS, type UserSession } from '../../../src/domain/identity/session.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/settings.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import {
  atOnce,
  from,
  hashOf,
  NOBODY,
  type OpenedStorage,
  onStorage,
  storedUser,
  trues,
} from '../../support/database/stored.ts';

const DAY_MS = 86_400_000;

/** Moves times into the past. */
export type Backdate = (id: string, times: { revokedAt?: Date; expiresAt?: Date }) => Promise<void>;

/** Guarantees of stored sessions, and of their refresh tokens. */
export async function sessionRepositoryContract(
  name: string,
  storage: Storage,
  backdate: Backdate,
): Promise<void> {
  const { sessions, refreshTokens, settings } = storage.repositories;
  const aUserId = async (): Promise<string> => (await storedUser(storage)).id;
  const open = (userId: string): Promise<UserSession> =>
    sessions.insert({ userId, ipAddress: '2001:db8::1', userAgent: 'agent "🚢"' });

  await t.test(`${name}: a new session is active, and lives for 30 days at most`, async (t) => {
    const userId = await aUserId();
    const session = await open(userId);
    t.match(session, {
      userId,
      ipAddress: '2001:db8::1',
      userAgent: 'agent "🚢"',
      revokedAt: null,
      revokedReason: null,
      barredUntil: null,
    });
    const barredUntil = new Date('2030-01-02T03:04:05.678Z');
    const barred = await sessions.insert({ userId, ipAddress: '::1', userAgent: 'x', barredUntil });
    t.match(await sessions.findWithUser(barred.id), { session: { barredUntil } });
    t.same(session.lastSeenAt, session.createdAt);
    t.equal(session.expiresAt.getTime() - session.createdAt.getTime(), SESSION_LIFE_DAYS * DAY_MS);
    t.not((await open(userId)).id, session.id);
  });

  await t.test(`${name}: a session is read with its user, the time and the settings`, async (t) => {
    const user = await storedUser(storage);
    const session = await open(user.id);
    const found = await sessions.findWithUser(session.id);
    t.match(found, { session, user, now: Date, idleMinutes: DEFAULT_SETTINGS.sessionIdleMinutes });
    t.notMatch(JSON.stringify(found), /hash/, 'and without any hash');
    t.ok((found?.now.getTime() ?? 0) >= session.createdAt.getTime());
    t.equal(await sessions.findWithUser(NOBODY), null);
    await settings.change({ sessionIdleMinutes: 45 });
    t.equal((await sessions.findWithUser(session.id))?.idleMinutes, 45);
    await settings.change({ sessionIdleMinutes: DEFAULT_SETTINGS.sessionIdleMinutes });
    const other = await open(user.id);
    const both = await sessions.findAllWithUser([session.id, NOBODY, other.id]);
    t.same(both.map((one) => one.session.id).sort(), [session.id, other.id].sort());
    t.same(await sessions.findAllWithUser([]), []);
  });

  await t.test(`${name}: the last use never moves back`, async (t) => {
    const session = await open(await aUserId());
    const at = (ms: number) => new Date(session.lastSeenAt.getTime() + ms);
    const seen = async () => (await sessions.findWithUser(session.id))?.session.lastSeenAt;
    await sessions.touch([{ id: session.id, at: at(5000) }]);
    t.same(await seen(), at(5000));
    await sessions.touch([
      { id: session.id, at: at(1000) },
      { id: NOBODY, at: at(1000) },
    ]);
    t.same(await seen(), at(5000));
  });

  await t.test(`${name}: a session is revoked once, by its user only`, async (t) => {
    const [ada, eve] = [await aUserId(), await aUserId()];
    const session = await open(ada);
    t.equal(await sessions.revoke(session.id, eve, 'no'), false);
    t.equal(await sessions.revoke(NOBODY, ada, 'no'), false);
    t.equal(await sessions.revoke(session.id, ada, 'lost laptop'), true);
    t.equal(await sessions.revoke(session.id, ada, 'again'), false);
    const found = await sessions.findWithUser(session.id);
    t.match(found?.session, { revokedAt: Date, revokedReason: 'lost laptop' });
  });

  await t.test(`${name}: of concurrent revocations, one succeeds`, async (t) => {
    const ada = await aUserId();
    const { id } = await open(ada);
    const done = await Promise.all(Array.from({ length: 8 }, () => sessions.revoke(id, ada, 'x')));
    t.equal(done.filter(Boolean).length, 1);
  });

  await t.test(`${name}: revoking the others covers all of the user's unrevoked ones but one`, async (t) => {
    const [ada, eve] = [await aUserId(), await aUserId()];
    const [kept, second, third, revoked] = [
      await open(ada),
      await open(ada),
      await open(ada),
      await open(ada),
    ];
    const foreign = await open(eve);
    await sessions.revoke(revoked.id, ada, 'before');
    const ids = await sessions.revokeOthers(ada, kept.id, 'others');
    t.same([...ids].sort(), [second.id, third.id].sort());
    t.same(await sessions.revokeOthers(ada, kept.id, 'others'), []);
    const reasons = await Promise.all(
      [kept, second, revoked, foreign].map(
        async ({ id }) => (await sessions.findWithUser(id))?.session.revokedReason,
      ),
    );
    t.same(reasons, [null, 'others', 'before', null]);
    t.same(await sessions.revokeOthers(ada, null, 'all'), [kept.id]);
  });

  await t.test(`${name}: the list has the user's own, newest first, without long-ended ones`, async (t) => {
    const [ada, eve] = [await aUserId(), await aUserId()];
    const made: UserSession[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await open(ada));
    await open(eve);
    const [expired, lately, longAgo] = made;
    const { now } = await sessions.listOwned(ada);
    const before = (ms: number) => new Date(now.getTime() - ms);
    await backdate(expired?.id ?? '', { expiresAt: before(1000) });
    await backdate(lately?.id ?? '', { revokedAt: before(29 * DAY_MS) });
    await backdate(longAgo?.id ?? '', { revokedAt: before(30 * DAY_MS + 1000) });
    const { sessions: listed, idleMinutes } = await sessions.listOwned(ada);
    const ids = [made[4], made[3], lately].map((one) => one?.id);
    t.same(new Set(listed.map(({ id }) => id)), new Set(ids));
    t.equal(listed.at(-1)?.id, lately?.id, 'the oldest is last');
    t.equal(idleMinutes, DEFAULT_SETTINGS.sessionIdleMinutes);
  });

  await t.test(`${name}: earlier sign-ins from an address or its group are known`, async (t) => {
    const ada = await aUserId();
    await open(ada);
    t.equal(await sessions.seenAt(ada, '2001:db8::1'), true);
    t.equal(await sessions.seenAt(ada, '2001:0db8:0:0:ffff::2'), true, 'another address of its /64');
    t.equal(await sessions.seenAt(ada, '2001:db8:0:1::1'), false, 'the next /64');
    t.equal(await sessions.seenAt(ada, '192.0.2.1'), false);
    t.equal(await sessions.seenAt(await aUserId(), '2001:db8::1'), false);
  });

  await t.test(`${name}: a refresh token is spent with its client, and waits for its turn`, async (t) => {
    const session = await sessions.insert({ userId: await aUserId(), ...from });
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

/** Guarantees of the screen lock. */
export function screenLockContract(name: string, storage: OpenedStorage): void {
  const test = onStorage(name, storage);

  test('a session is locked with what decides it, and opened', async (t, repositories, storage) => {
    const { screenLocks, sessions } = repositories;
    const { id } = await storedUser(storage);
    const session = await sessions.insert({ userId: id, ...from });
    const lock = async () => (await sessions.findWithUser(session.id))?.lock;
    t.same(await lock(), { lockedAt: null, passcodeSet: false, autoLockMinutes: null });
    await screenLocks.setPasscode(id, 'hash');
    await screenLocks.setAutoLock(id, 10);
    await screenLocks.lockSession(session.id);
    const first = await lock();
    t.match(first, { lockedAt: Date, passcodeSet: true, autoLockMinutes: 10 });
    await screenLocks.lockSession(session.id);
    t.same(await lock(), first, 'the first time stays');
    t.equal(await screenLocks.passcodeHash(id), 'hash');
    const protection = { passwordSet: true, mfaEnabled: false, passcodeSet: true, autoLockMinutes: 10 };
    t.same(await screenLocks.protectionOf(id), protection);
    const secret = Buffer.from('sealed');
    await repositories.factors.putPendingTotp(id, secret);
    t.same(await screenLocks.protectionOf(id), protection, 'an unconfirmed secret does not count');
    await repositories.factors.confirmTotp(id, secret, 1);
    t.same(await screenLocks.protectionOf(id), { ...protection, mfaEnabled: true });
    await screenLocks.unlockSession(session.id);
    t.match(await lock(), { lockedAt: null, passcodeSet: true });
    await screenLocks.setPasscode(id, null);
    await screenLocks.setAutoLock(id, null);
    t.same(await lock(), { lockedAt: null, passcodeSet: false, autoLockMinutes: null });
    t.match(await screenLocks.protectionOf(id), { passcodeSet: false, autoLockMinutes: null });
  });

  test('wrong passcodes are counted for a session that is not revoked, none is lost', async (t, repositories, storage) => {
    const { screenLocks, sessions } = repositories;
    const { id } = await storedUser(storage);
    const session = await sessions.insert({ userId: id, ...from });
    const seen = await atOnce(storage, 12, async (tx) => {
      const wrong = await tx.screenLocks.wrongPasscodes(session.id);
      await tx.screenLocks.countWrongPasscode(session.id);
      return wrong;
    });
    t.same(
      seen.toSorted((x, y) => Number(x) - Number(y)),
      [...Array(12).keys()],
      'each saw those before it',
    );
    await screenLocks.unlockSession(session.id);
    t.equal(await screenLocks.wrongPasscodes(session.id), 0);
    await sessions.revoke(session.id, id, 'test');
    t.equal(await screenLocks.wrongPasscodes(session.id), null);
  });
}
