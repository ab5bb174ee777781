import t from 'tap';
import {
  acceptFaults,
  accountEndFaults,
  accountFaults,
  concernsAdmins,
  decideUserChange,
  type Invitation,
  isDisabled,
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

const free: Invitation = { role: 'user', tier: 'free', email: null, username: null, accountEndsAt: null };

t.test('an invitation names a known tier, and valid text', async (t) => {
  for (const [over, fields] of [
    [{}, []],
    [{ tier: 'gold' }, ['tier']],
    [{ email: 'x', username: '-' }, ['email', 'username']],
    [{ email: 'ada@example.org', username: 'ada' }, []],
  ] as const) {
    t.same(Object.keys(accountFaults({ ...free, ...over }, ['free', 'pro'])), fields);
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
  endsAt: null,
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
    const decided = decideUserChange(user, change, { tiers: ['free'], otherAdmins: 1, now: at(2) });
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

t.test('an account ends at a time to come, and an administrator’s never', async (t) => {
  const now = at(0);
  const [past, soon, far] = [at(-1), at(1), new Date(now.getTime() + 3_654 * 86_400_000)];
  for (const [endsAt, role, isFine] of [
    [null, 'user', true],
    [null, 'admin', true],
    [soon, 'user', true],
    [soon, 'admin', false],
    [now, 'user', false],
    [past, 'user', false],
    [far, 'user', false],
    [new Date(Number.NaN), 'user', false],
  ] as const) {
    const faults = accountEndFaults(endsAt, role, now);
    t.same(Object.keys(faults), isFine ? [] : ['endsAt'], `${role} ${endsAt?.getTime()}`);
  }
});

t.test('an account is unusable from its end on, and while it is disabled', async (t) => {
  for (const [endsAt, disabledAt, minutes, expected] of [
    [null, null, 5, false],
    [at(5), null, 4, false],
    [at(5), null, 5, true],
    [at(5), at(1), 4, true],
    [null, at(1), 4, true],
  ] as const) {
    t.equal(isDisabled({ endsAt, disabledAt }, at(minutes)), expected, `${endsAt} ${disabledAt} ${minutes}`);
  }
});

t.test('an end is changed like other facts of an account', async (t) => {
  const now = at(10);
  const ended = { ...ada, endsAt: at(5), disabledAt: at(5) };
  const ending = { ...ada, endsAt: at(20) };
  for (const [user, change, expected] of [
    [ada, { endsAt: at(20) }, { endsAt: at(20) }],
    [ending, { endsAt: at(20) }, {}],
    [ending, { endsAt: null }, { endsAt: null }],
    [ending, { tier: 'pro' }, { tier: 'pro' }],
    [ending, { role: 'admin' }, null],
    [ending, { role: 'admin', endsAt: null }, { role: 'admin', endsAt: null }],
    [ada, { endsAt: at(9) }, null],
    [ended, { tier: 'pro' }, { tier: 'pro' }],
    [ended, { disabled: false }, null],
    [ended, { disabled: false, endsAt: null }, { disabled: false, endsAt: null }],
    [ended, { disabled: false, endsAt: at(20) }, { disabled: false, endsAt: at(20) }],
    [{ ...ada, role: 'admin' }, { endsAt: at(20) }, null],
    [{ ...ada, guestUntil: at(20) }, { endsAt: at(20) }, null],
  ] as const) {
    const decided = decideUserChange(user, change, { tiers: ['free', 'pro'], otherAdmins: 1, now });
    t.same(decided.ok ? decided.value : null, expected, JSON.stringify([user, change]));
  }
});
