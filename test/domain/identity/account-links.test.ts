import t from 'tap';
import {
  acceptFaults,
  concernsAdmins,
  decideUserChange,
  type Invitation,
  invitationFaults,
  linkState,
  type User,
} from '../../../src/domain/index.ts';

const at = (minutes: number): Date => new Date(minutes * 60_000);
const NEVER = { usedAt: null, withdrawnAt: null, expiresAt: at(10) };

t.test('a link is open until it is used, withdrawn or late', async (t) => {
  for (const [link, minutes, state] of [
    [NEVER, 9, 'open'],
    [NEVER, 10, 'expired'],
    [{ ...NEVER, withdrawnAt: at(5) }, 6, 'withdrawn'],
    [{ ...NEVER, withdrawnAt: at(5) }, 20, 'withdrawn'],
    [{ ...NEVER, usedAt: at(5) }, 20, 'used'],
  ] as const) {
    t.equal(linkState(link, at(minutes)), state);
  }
});

const free: Invitation = { role: 'user', tier: 'free', email: null, username: null };

t.test('an invitation names a known tier, and valid text', async (t) => {
  for (const [over, fields] of [
    [{}, []],
    [{ tier: 'gold' }, ['tier']],
    [{ email: 'x', username: '-' }, ['email', 'username']],
    [{ email: 'ada@example.org', username: 'ada' }, []],
  ] as const) {
    t.same(Object.keys(invitationFaults({ ...free, ...over }, ['free', 'pro'])), fields);
  }
});

t.test('a bound invitation takes its own address and name, in any case and width', async (t) => {
  const bound = { ...free, email: 'ada@example.org', username: 'ada' };
  for (const [email, username, fields] of [
    ['ada@example.org', 'ada', []],
    ['ADA@Example.org', 'Ada', []],
    ['ａda@example.org', 'ada', []],
    ['eve@example.org', 'ada', ['email']],
    ['ada@example.org.evil', 'eve', ['email', 'username']],
  ] as const) {
    t.same(Object.keys(acceptFaults(bound, { email, username })), fields, email);
    t.same(acceptFaults(free, { email, username }), {}, 'an open one takes any');
  }
});

const ada: User = {
  id: '1',
  email: 'ada@example.org',
  username: 'ada',
  role: 'user',
  tier: 'free',
  createdAt: at(0),
  disabledAt: null,
  guestUntil: null,
};

t.test('a reason belongs to a disabled account', async (t) => {
  const off = { ...ada, disabledAt: at(1) };
  for (const [user, change, expected] of [
    [ada, { disabled: true, disabledReason: 'left' }, { disabled: true, disabledReason: 'left' }],
    [off, { disabledReason: 'left' }, { disabledReason: 'left' }],
    [off, { disabledReason: null }, { disabledReason: null }],
    [off, { disabled: false }, { disabled: false }],
    [ada, { disabledReason: 'left' }, null],
    [off, { disabled: false, disabledReason: 'left' }, null],
    [ada, { disabled: true, disabledReason: 'x'.repeat(201) }, null],
    [ada, { disabled: true, disabledReason: 'two\nlines' }, null],
  ] as const) {
    const decided = decideUserChange(user, change, ['free'], 1);
    t.same(decided.ok ? decided.value : null, expected, JSON.stringify(change));
  }
});

t.test('a change concerns administrators when it makes one, or touches one', async (t) => {
  const cases = [
    // before, after
    ['user', undefined, false],
    ['user', 'user', false],
    ['user', 'admin', true],
    ['admin', undefined, true],
    ['admin', 'user', true],
  ] as const;
  for (const [before, after, concerns] of cases)
    t.equal(concernsAdmins(before, after), concerns, `${before}, then ${after}`);
  t.same([concernsAdmins('admin'), concernsAdmins('user')], [true, false], 'a new account');
});
