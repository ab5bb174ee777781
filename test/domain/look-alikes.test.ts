import t from 'tap';
import { comparable } from '../../src/domain/look-alikes.ts';
import { guestNameFaults, personFaults } from '../../src/domain/user.ts';

const emailFault = (email: string): string | undefined =>
  personFaults({ email: comparable(email), username: 'ada', password: 'correct horse' })['email'];

const hex = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);

t.test('addresses that people have are taken', async (t) => {
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

t.test('an address with something that cannot be seen is refused, and says so', async (t) => {
  const unseen = [
    ...['\u200b', '\u200d', '\u202e', '\u2066', '\ufeff', '\u00ad', '\u034f', '\u3164', '\u115f', '\u180e'],
    ...['\u2800', '\ufe0f', '\u0000', '\u0085', '\ue000', '\u{e0061}', '\u{1d173}', ' ', '\u00a0', '\u3000'],
    ...['\ud800'],
  ];
  for (const one of unseen)
    for (const address of [`root@example.org${one}`, `ro${one}ot@example.org`, `${one}root@example.org`])
      t.equal(emailFault(address), 'must have no spaces and no invisible characters', hex(address));
});

t.test('an address that passes for another one is refused', async (t) => {
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
  for (const address of [
    'a"b<script>@x',
    'a@b@c',
    'ada',
    '@x',
    'ada@',
    'a,b@x',
    'a(b)@x',
    `${'x'.repeat(254)}@x`,
  ])
    t.equal(emailFault(address), 'must be an email address', address.slice(0, 20));
});

t.test('forms of the same letters are one address', async (t) => {
  for (const form of ['ａｄａ@example.org', 'ada＠example.org', 'ada@example．org'])
    t.equal(comparable(form), 'ada@example.org');
  t.equal(comparable('ju\u0308rgen@x'), 'j\u00fcrgen@x');
});

t.test('a guest is not called like the service or who runs it', async (t) => {
  for (const name of ['Administrator', 'root', 'ROOT', 'r00t', 'adm1n', 'Ad.min', 'berth', 'system', 'root-'])
    t.same(guestNameFaults(name), { username: 'is reserved' }, name);
  for (const name of ['eve', 'rooted', 'adminton', 'guest-0123456789', 'berthold'])
    t.same(guestNameFaults(name), {}, name);
  t.match(guestNameFaults('-x'), { username: /letters/ });
});
