import t from 'tap';
import {
  decideRefresh,
  REFRESH_GRACE_SECONDS,
  sessionListed,
  sessionState,
} from '../../src/domain/session.ts';
import { guestExpired, passwordFaults, personFaults } from '../../src/domain/user.ts';
import { aSession, aUser } from '../support/builders.ts';

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

t.test(
  'a refresh token rotates once; a lost answer may be asked for again by the same client, soon',
  async (t) => {
    const spent = { sessionId: 's', spentAt: at(0), spentBy: 'browser' };
    t.equal(decideRefresh({ sessionId: 's', spentAt: null, spentBy: null }, 'browser', at(0)), 'rotate');
    t.equal(decideRefresh(spent, 'browser', at(REFRESH_GRACE_SECONDS)), 'repeat');
    t.equal(decideRefresh(spent, 'browser', at(REFRESH_GRACE_SECONDS + 1)), 'reused');
    t.equal(decideRefresh(spent, 'another', at(1)), 'reused');
  },
);

t.test('every fault of a new person is named at once', async (t) => {
  const good = { email: 'ada@example.org', username: 'ada', password: 'correct horse' };
  t.same(personFaults(good), {});
  t.same(Object.keys(personFaults({ email: 'x', username: '-', password: 'short' })), [
    'email',
    'username',
    'password',
  ]);
  for (const email of ['', 'a@', '@b', 'a b@c', 'a@b\n', `${'a'.repeat(250)}@b.de`]) {
    t.match(personFaults({ ...good, email }), { email: String }, JSON.stringify(email));
  }
  for (const username of ['', '.a', 'a b', 'a/b', 'ä', 'x'.repeat(40)]) {
    t.match(personFaults({ ...good, username }), { username: String }, JSON.stringify(username));
  }
});

t.test('a password has 8 to 1024 characters and is not trimmed', async (t) => {
  t.same(passwordFaults('        '), {}, 'spaces count');
  t.same(passwordFaults('x'.repeat(1024)), {});
  t.match(passwordFaults('1234567'), { password: String });
  t.match(passwordFaults('x'.repeat(1025)), { password: String });
});

t.test('a guest ends at the end of its life, others never', async (t) => {
  t.notOk(guestExpired(aUser(), at(1e9)));
  t.notOk(guestExpired(aUser({ guestUntil: at(10) }), at(9)));
  t.ok(guestExpired(aUser({ guestUntil: at(10) }), at(10)));
});

t.test('a list has what is active, and what was until it was revoked in the last 30 days', async (t) => {
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
