import type { Test } from 'tap';
import { aStoredUser, atOnce, from, type OpenStorage, on } from '../support/storage.ts';

export function screenLockContract(t: Test, open: OpenStorage): void {
  const test = on(t, open);

  test('a session is locked with what decides it, and opened', async (t, repositories) => {
    const { screenLocks, sessions } = repositories;
    const { id } = await aStoredUser(repositories);
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
    t.equal(await screenLocks.autoLockMinutes(id), 10);
    await screenLocks.unlockSession(session.id);
    t.match(await lock(), { lockedAt: null, passcodeSet: true });
    await screenLocks.setPasscode(id, null);
    await screenLocks.setAutoLock(id, null);
    t.same(await lock(), { lockedAt: null, passcodeSet: false, autoLockMinutes: null });
  });

  test('wrong passcodes are counted for a session that is not revoked, none is lost', async (t, repositories, storage) => {
    const { screenLocks, sessions } = repositories;
    const { id } = await aStoredUser(repositories);
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
