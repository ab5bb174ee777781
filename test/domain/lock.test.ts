import t from 'tap';
import {
  type LockFacts,
  locksItselfInMs,
  passcodeFaults,
  seenEveryMs,
  sessionLocked,
} from '../../src/domain/lock.ts';

const MINUTE_MS = 60_000;
const now = new Date('2026-01-01T12:00:00Z');
const before = (minutes: number): Date => new Date(now.getTime() - minutes * MINUTE_MS);
const facts = (over: Partial<LockFacts> = {}): LockFacts => ({
  lockedAt: null,
  passcodeSet: true,
  autoLockMinutes: 5,
  ...over,
});
const never = Number.POSITIVE_INFINITY;

t.test('a session is locked on purpose or by its idleness, and never without a passcode', async (t) => {
  for (const [name, lock, idleMinutes, locked, leftMs] of [
    ['in use', facts(), 0, false, 5 * MINUTE_MS],
    ['a moment before', facts(), 5 - 1 / MINUTE_MS, false, 1],
    ['idle for as long', facts(), 5, true, 0],
    ['idle for longer', facts(), 6, true, -MINUTE_MS],
    ['without a limit', facts({ autoLockMinutes: null }), 9_999, false, never],
    ['on purpose, in use', facts({ lockedAt: now }), 0, true, 5 * MINUTE_MS],
    ['on purpose, without a limit', facts({ lockedAt: now, autoLockMinutes: null }), 0, true, never],
    ['without a passcode, idle', facts({ passcodeSet: false }), 6, false, never],
    ['without a passcode, on purpose', facts({ passcodeSet: false, lockedAt: now }), 0, false, never],
  ] as const) {
    const seenAt = before(idleMinutes);
    t.equal(sessionLocked(lock, seenAt, now), locked, name);
    t.equal(locksItselfInMs(lock, seenAt, now), leftMs, `${name}: how long it stays open`);
  }
});

t.test('a use is written often enough for the lock that waits for it', async (t) => {
  for (const [autoLockMinutes, everyMs] of [
    [null, MINUTE_MS],
    [1, MINUTE_MS / 4],
    [2, MINUTE_MS / 2],
    [4, MINUTE_MS],
    [60, MINUTE_MS],
  ] as const)
    t.equal(seenEveryMs(facts({ autoLockMinutes }), MINUTE_MS), everyMs, `${autoLockMinutes}`);
});

t.test('a passcode has 4 to 64 characters, however many bytes those have', async (t) => {
  for (const passcode of ['1234', '    ', 'x'.repeat(64), '🔒'.repeat(4), '🔒'.repeat(64)])
    t.same(passcodeFaults(passcode), {}, passcode);
  for (const passcode of ['', '123', 'x'.repeat(65), '🔒🔒🔒', '🔒'.repeat(65)])
    t.match(passcodeFaults(passcode), { passcode: String }, passcode);
});
