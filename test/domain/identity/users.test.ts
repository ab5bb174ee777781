import t from 'tap';
import { comparable } from '../../../src/domain/identity/confusable-names.ts';
import {
  decideUserChange,
  guestExpired,
  guestNameFaults,
  namesOf,
  passwordFaults,
  personFaults,
  type UserChange,
} from '../../../src/domain/identity/user.ts';
import { aUser } from '../../support/samples/samples.ts';

const TIERS = ['guest', 'free', 'pro', 'enterprise'];
const admin = aUser({ role: 'admin', tier: 'enterprise' });
const off = new Date('2026-01-01T00:00:00Z');
const facts = (otherAdmins: number) => ({ tiers: TIERS, otherAdmins, now: new Date('2026-06-01T00:00:00Z') });

t.test('a user change is reduced to its differences', async (t) => {
  const cases: readonly (readonly [UserChange, UserChange])[] = [
    [{}, {}],
    [{ tier: 'free', role: 'user', disabled: false }, {}],
    [{ tier: 'pro' }, { tier: 'pro' }],
    [{ role: 'admin' }, { role: 'admin' }],
    [{ disabled: true }, { disabled: true }],
    [
      { tier: 'pro', role: 'user', disabled: true },
      { tier: 'pro', disabled: true },
    ],
  ];
  for (const [asked, left] of cases) {
    t.same(decideUserChange(aUser(), asked, facts(1)), { ok: true, value: left }, JSON.stringify(asked));
  }
  const disabled = aUser({ disabledAt: off });
  t.same(decideUserChange(disabled, { disabled: true }, facts(1)), { ok: true, value: {} });
  t.same(decideUserChange(disabled, { tier: 'pro' }, facts(1)), { ok: true, value: { tier: 'pro' } });
  t.same(decideUserChange(disabled, { disabled: false }, facts(1)), { ok: true, value: { disabled: false } });
});

t.test('the last administrator who can sign in stays one', async (t) => {
  const refused = { ok: false, error: { code: 'last_administrator' } };
  const cases: readonly (readonly [UserChange, number, boolean])[] = [
    [{ role: 'user' }, 0, false],
    [{ disabled: true }, 0, false],
    [{ role: 'user', disabled: true }, 0, false],
    [{ role: 'user' }, 1, true],
    [{ disabled: true }, 1, true],
    [{ tier: 'pro' }, 0, true],
    [{ role: 'admin', disabled: false }, 0, true],
  ];
  for (const [change, others, allowed] of cases) {
    const decided = decideUserChange(admin, change, facts(others));
    t.equal(decided.ok, allowed, `${JSON.stringify(change)} with ${others} others`);
    if (!decided.ok) t.same(decided, refused);
  }
  const disabled = { ...admin, disabledAt: off };
  t.ok(decideUserChange(disabled, { role: 'user' }, facts(0)).ok, 'a disabled one is not counted on');
});

t.test('tiers come from the catalogue, and guests cannot be administrators', async (t) => {
  const guest = aUser({ tier: 'guest', guestUntil: off });
  t.match(decideUserChange(guest, { tier: 'gold', role: 'admin' }, facts(1)), {
    ok: false,
    error: { code: 'validation_failed', fields: { tier: /guest, free, pro, enterprise/, role: String } },
  });
  t.ok(decideUserChange(guest, { tier: 'free', disabled: true }, facts(1)).ok);
});

const GOOD = { email: 'ada@example.org', username: 'ada', password: 'correct horse' };
const emailFault = (email: string): string | undefined =>
  personFaults({ ...GOOD, email: comparable(email) })['email'];

const hex = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);

t.test('real addresses are accepted', async (t) => {
  const addresses = [
    'ada@example.org',
    "o'neil+berth@mail.example.co.uk",
    'jürgen.groß@müller.example',
    'nguyễn@example.vn',
    'пользователь@пример.рф',
    'γιώργος@παράδειγμα.gr',
    '用户@例子.example',
    'たろう太郎@例え.jp',
    '홍길동@例子.kr',
    'иван@example.org',
    'ada@x-ray7.example',
  ];
  for (const address of addresses) t.equal(emailFault(address), undefined, address);
});

t.test('an address with invisible characters is refused with a reason', async (t) => {
  const unseen = [
    ...['\u200b', '\u200d', '\u202e', '\u2066', '\ufeff', '\u00ad', '\u034f', '\u3164', '\u115f', '\u180e'],
    ...['\u2800', '\ufe0f', '\u0000', '\u0085', '\ue000', '\u{e0061}', '\u{1d173}', ' ', '\u00a0', '\u3000'],
    ...['\ud800', '\n'],
  ];
  for (const one of unseen)
    for (const address of [`root@example.org${one}`, `ro${one}ot@example.org`, `${one}root@example.org`])
      t.equal(emailFault(address), 'must have no spaces and no invisible characters', hex(address));
});

t.test('a lookalike address is refused', async (t) => {
  const twins = [
    ['аda@example.org', 'a Cyrillic a'],
    ['admіn@example.org', 'a Cyrillic i'],
    ['rοot@example.org', 'a Greek o'],
    ['ada@eхample.org', 'a Cyrillic x in the domain'],
    ['асе@example.org', 'a word of Cyrillic letters that pass for Latin ones'],
    ['alıce@example.org', 'an i without its dot'],
    ['ɡuy@example.org', 'a phonetic g'],
  ] as const;
  for (const [address, what] of twins)
    t.equal(emailFault(address), 'must not mix letters that look like others', what);
  const others = ['', 'a@', '@b', 'a"b<script>@x', 'a@b@c', 'ada', 'a,b@x', 'a(b)@x', `${'x'.repeat(254)}@x`];
  for (const address of others)
    t.equal(emailFault(address), 'must be an email address', address.slice(0, 20));
});

t.test('forms of the same letters are one address', async (t) => {
  for (const form of ['ａｄａ@example.org', 'ada＠example.org', 'ada@example．org'])
    t.equal(comparable(form), 'ada@example.org');
  t.equal(comparable('ju\u0308rgen@x'), 'j\u00fcrgen@x');
});

t.test('a guest cannot be named like the service or its operators', async (t) => {
  const official =
    'root admin admins administrator administrators sysadmin superuser sudo berth system service server operator ' +
    'owner staff team moderator support helpdesk help security info official noreply postmaster daemon';
  for (const name of [...official.split(' '), 'Administrator', 'ROOT', 'r00t', 'adm1n', 'Ad.min', 'root-'])
    t.same(guestNameFaults(name), { username: 'is reserved' }, name);
  for (const name of ['eve', 'rooted', 'adminton', 'guest-0123456789', 'berthold'])
    t.same(guestNameFaults(name), {}, name);
  t.match(guestNameFaults('-x'), { username: /letters/ });
});

const ID = '0b6f2a52-5a0e-4c62-9d7e-0c1f1d2e3a4b';

t.test('every fault of a new user is named at once', async (t) => {
  t.same(personFaults(GOOD), {});
  const faults = personFaults({ email: 'x', username: '-', password: 'short' });
  t.same(Object.keys(faults), ['email', 'username', 'password']);
  for (const username of ['', '.a', 'a b', 'a/b', 'ä', 'x'.repeat(40)])
    t.match(personFaults({ ...GOOD, username }), { username: String }, JSON.stringify(username));
  for (const username of [ID, ID.toUpperCase()])
    t.same(personFaults({ ...GOOD, username }), { username: 'must not be an id' }, username);
  t.same(personFaults({ ...GOOD, username: ID.slice(1) }), {});
});

t.test('a password has 8 to 1024 characters and is not trimmed', async (t) => {
  const long = 'a few words '.repeat(86);
  t.same(passwordFaults(' a b c d ', []), {}, 'spaces count');
  t.same(passwordFaults(long.slice(0, 1024), []), {});
  t.match(passwordFaults('1234567', []), { password: 'must have at least 8 characters' });
  t.match(passwordFaults(long.slice(0, 1025), []), { password: 'must have at most 1024 characters' });
});

t.test('a guest expires at the end of its life, others never', async (t) => {
  const at = (ms: number) => new Date(off.getTime() + ms);
  t.notOk(guestExpired(aUser(), at(1e12)));
  t.notOk(guestExpired(aUser({ guestUntil: off }), at(-1)));
  t.ok(guestExpired(aUser({ guestUntil: off }), off));
});

t.test('no password is accepted that is guessed first', async (t) => {
  const first = [
    ...['12345678', '123456789', '87654321', '11111111', 'abcabcabc', 'aaaaaaaaaa', 'abcdefgh', '        '],
    ...['password', 'Password1', 'P@ssw0rd', 'password123!', 'passwort2024', 'iloveyou', 'welcome2026!'],
    ...['qwertyuiop', 'qwer1234', '1q2w3e4r', '1qaz2wsx', 'asdfghjkl', 'asdfasdf', 'admin123', 'changeme'],
    ...['correct horse battery staple', 'letmein!'],
  ];
  for (const password of first)
    t.same(passwordFaults(password, []), { password: 'must not be a common password' }, password);
  const others = [
    'correct horse battery',
    'another good one',
    'long enough',
    'xK9#mQ2$vL',
    'winterreise',
    '19-mai-74',
  ];
  for (const password of others) t.same(passwordFaults(password, []), {}, password);
});

t.test('no password is the name of its user', async (t) => {
  const names = namesOf({ username: 'ada.lovelace', email: 'a.lovelace@example.org' });
  for (const password of ['ada.lovelace', 'Ada.Lovelace1815!', 'a.lovelace@example.org', 'a.lovelace1'])
    t.same(passwordFaults(password, names), { password: 'must not be your name or email address' }, password);
  t.same(passwordFaults('lovelace and engines', names), {});
  t.match(personFaults({ ...GOOD, username: 'charlotte', password: 'charlotte99' }), {
    password: /your name/,
  });
});
