import t from 'tap';
import {
  type LockFacts,
  locksItselfInMs,
  passcodeFaults,
  seenEveryMs,
  sessionLocked,
} from '../../../src/domain/identity/screen-lock.ts';
import {
  decideRefresh,
  REFRESH_GRACE_SECONDS,
  sessionListed,
  sessionState,
} from '../../../src/domain/identity/session.ts';
import { aSession } from '../../support/samples/samples.ts';

const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);

t.test('a session ends by revocation, by its absolute life and by idleness', async (t) => {
  const cases: [string, Parameters<typeof sessionState>, string][] = [
    ['fresh', [aSession(), at(60), 30], 'active'],
    ['one millisecond before idle', [aSession(), new Date(at(1800).getTime() - 1), 30], 'active'],
    ['idle', [aSession(), at(1800), 30], 'expired'],
    ['seen lately', [aSession({ lastSeenAt: at(1700) }), at(1800), 30], 'active'],
    ['absolute life over', [aSession({ expiresAt: at(100), lastSeenAt: at(99) }), at(100), 30], 'expired'],
    ['revoked', [aSession({ revokedAt: at(1) }), at(2), 30], 'revoked'],
    ['revoked and idle', [aSession({ revokedAt: at(1) }), at(9999), 30], 'revoked'],
  ];
  for (const [name, args, expected] of cases) t.equal(sessionState(...args), expected, name);
});

t.test('a refresh token rotates once; the same client may repeat it within the grace period', async (t) => {
  const spent = { sessionId: 's', spentAt: at(0), spentBy: 'browser' };
  t.equal(decideRefresh({ sessionId: 's', spentAt: null, spentBy: null }, 'browser', at(0)), 'rotate');
  t.equal(decideRefresh(spent, 'browser', at(REFRESH_GRACE_SECONDS)), 'repeat');
  t.equal(decideRefresh(spent, 'browser', at(REFRESH_GRACE_SECONDS + 1)), 'reused');
  t.equal(decideRefresh(spent, 'another', at(1)), 'reused');
});

t.test('a list has active sessions, and those revoked in the last 30 days while active', async (t) => {
  const day = 86_400;
  const cases: [string, Parameters<typeof sessionListed>, boolean][] = [
    ['active', [aSession(), at(60), 30], true],
    ['idle for too long', [aSession(), at(1800), 30], false],
    ['its life over', [aSession({ expiresAt: at(100) }), at(100), 30], false],
    ['revoked', [aSession({ revokedAt: at(60) }), at(61), 30], true],
    ['revoked, and by now idle', [aSession({ revokedAt: at(60) }), at(3 * day), 30], true],
    ['revoked 30 days ago', [aSession({ revokedAt: at(60) }), at(60 + 30 * day), 30], false],
    ['revoked a moment less ago', [aSession({ revokedAt: at(60) }), at(59 + 30 * day), 30], true],
    ['revoked when it had expired already', [aSession({ revokedAt: at(1800) }), at(1801), 30], false],
  ];
  for (const [name, args, expected] of cases) t.equal(sessionListed(...args), expected, name);
});

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

t.test('a session locks on request or when idle, and never without a passcode', async (t) => {
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

t.test('uses are written often enough for the auto-lock', async (t) => {
  for (const [autoLockMinutes, everyMs] of [
    [null, MINUTE_MS],
    [1, MINUTE_MS / 4],
    [2, MINUTE_MS / 2],
    [4, MINUTE_MS],
    [60, MINUTE_MS],
  ] as const)
    t.equal(seenEveryMs(facts({ autoLockMinutes }), MINUTE_MS), everyMs, `${autoLockMinutes}`);
});

t.test('a passcode has 4 to 64 characters, of any number of bytes', async (t) => {
  for (const passcode of ['1234', '    ', 'x'.repeat(64), '🔒'.repeat(4), '🔒'.repeat(64)])
    t.same(passcodeFaults(passcode), {}, passcode);
  for (const passcode of ['', '123', 'x'.repeat(65), '🔒🔒🔒', '🔒'.repeat(65)])
    t.match(passcodeFaults(passcode), { passcode: String }, passcode);
});
