import t from 'tap';
import { type Io, jsonText, printable, printableIn } from '../../src/cli/io/io.ts';
import { rawTerminal } from '../../src/cli/io/raw-terminal.ts';
import { tableText } from '../../src/cli/io/table.ts';
import { serverAddress, targetOf } from '../../src/cli/profiles/target.ts';
import { closest } from '../../src/cli/values/closest.ts';
import { megabytes, millicores, sizeText } from '../../src/cli/values/sizes.ts';
import { endTime, pointInTime, seconds } from '../../src/cli/values/times.ts';
import { olderThan } from '../../src/cli/version-note.ts';

const table = <T>(
  name: string,
  read: (text: string) => T,
  good: Readonly<Record<string, T>>,
  bad: readonly string[],
) =>
  t.test(name, async (t) => {
    for (const [text, value] of Object.entries(good)) t.equal(read(text), value, text);
    for (const text of bad) t.throws(() => read(text), text);
  });

table('sizes', megabytes, { '512': 512, '512m': 512, '2g': 2048, '1.5GB': 1536 }, [
  '',
  'x',
  '5q',
  '0.3m',
  '-1',
]);
table('processors', millicores, { '1': 1000, '0.5': 500, '1500m': 1500 }, ['', '1c', '0.0001', '-1']);
table('lengths of time', seconds, { '90s': 90, '2h': 7200, '1w': 604_800 }, ['', '5', '0h', '1y']);
table('times', pointInTime, { '2026-03-01T12:00Z': '2026-03-01T12:00:00.000Z' }, ['', 'yesterday', '5']);
table<string | null>(
  'ends',
  endTime,
  {
    never: null,
    '2027-03-31T12:00Z': '2027-03-31T12:00:00.000Z',
    // the last second of the day where the command runs
    '2027-03-31': new Date(2027, 2, 31, 23, 59, 59).toISOString(),
  },
  ['', 'soon', '2027-13-99', '5'],
);

t.test('an end may be a length of time from now', async (t) => {
  const inTwoDays = Date.now() + 2 * 86_400_000;
  const end = Date.parse(endTime('2d') ?? '');
  t.ok(end >= inTwoDays && end < inTwoDays + 60_000);
});

table(
  'server addresses',
  serverAddress,
  { 'example.com': 'https://example.com', 'http://127.0.0.1:8080/x': 'http://127.0.0.1:8080' },
  ['', 'ftp://x', 'http://', 'https://ada:secret@example.com'],
);

t.test('a name that is nearly right is found, another is not', async (t) => {
  const names = ['dev', 'production', 'api-2'];
  for (const [typed, meant] of [
    ['dve', 'dev'],
    ['prodction', 'production'],
    ['API-2', 'api-2'],
    ['zzz', null],
  ] as const) {
    t.equal(closest(typed, names), meant, typed);
  }
});

t.test('versions', async (t) => {
  for (const [one, other, older] of [
    ['0.1.0', '0.2.0', true],
    ['0.9.0', '0.10.0', true],
    ['1.0.0', '0.9.9', false],
    ['0.1.0', '0.1.0', false],
    ['0.0.0', 'unknown', false],
  ] as const) {
    t.equal(olderThan(one, other), older, `${one} ${other}`);
  }
});

const credential = { kind: 'api_token', token: 'svc_x' } as const;
const at = (server: string) => ({ server, username: 'ada', credential });
const HOSTS = {
  current: 'one',
  profiles: { one: at('https://one'), two: at('https://two'), again: at('https://one') },
};

for (const [name, options, env, expected] of [
  ['the profile in use', {}, {}, { kind: 'profile', name: 'one', server: 'https://one' }],
  ['a profile by name', { profile: 'two' }, {}, { kind: 'profile', name: 'two' }],
  ['the profile of a server', { server: 'two' }, {}, { kind: 'profile', name: 'two' }],
  ['the profile in use of several for a server', { server: 'one' }, {}, { kind: 'profile', name: 'one' }],
  ['the environment over the file', {}, { BERTH_SERVER: 'two' }, { kind: 'profile', name: 'two' }],
  ['a flag over the environment', { server: 'one' }, { BERTH_SERVER: 'two' }, { name: 'one' }],
  [
    'a token over the profile',
    {},
    { BERTH_TOKEN: 't' },
    { kind: 'given', server: 'https://one', token: 't' },
  ],
  ['an unknown server without a credential', { server: 'three' }, {}, { kind: 'anonymous' }],
  [
    'a profile at another server without its credential',
    { server: 'three', profile: 'one' },
    {},
    { kind: 'anonymous' },
  ],
  [
    'a token flag at the server of a profile flag',
    { profile: 'two', token: 't' },
    { BERTH_SERVER: 'one', BERTH_TOKEN: 'u' },
    { kind: 'given', server: 'https://two', token: 't' },
  ],
  [
    'a profile flag over the server and token of the environment',
    { profile: 'two' },
    { BERTH_SERVER: 'one', BERTH_TOKEN: 't' },
    { kind: 'profile', server: 'https://two', name: 'two' },
  ],
  [
    'the token of the environment at the server of the environment',
    {},
    { BERTH_SERVER: 'two', BERTH_TOKEN: 't', BERTH_PROFILE: 'one' },
    { kind: 'given', server: 'https://two', token: 't' },
  ],
  [
    'the token of the environment at the server of its profile',
    {},
    { BERTH_TOKEN: 't', BERTH_PROFILE: 'two' },
    { kind: 'given', server: 'https://two', token: 't' },
  ],
  [
    'the token of the environment at a server flag, when the variables name no server',
    { server: 'three' },
    { BERTH_TOKEN: 't' },
    { kind: 'given', server: 'https://three', token: 't' },
  ],
  [
    'the token of the environment at a server flag that it names too',
    { server: 'https://three/' },
    { BERTH_SERVER: 'three', BERTH_TOKEN: 't' },
    { kind: 'given', server: 'https://three', token: 't' },
  ],
  [
    'the token of the environment for no other server than its own',
    { server: 'three' },
    { BERTH_SERVER: 'one', BERTH_TOKEN: 't' },
    { kind: 'anonymous', server: 'https://three' },
  ],
  [
    'the token of the environment for no other server than that of its profile',
    { server: 'two' },
    { BERTH_TOKEN: 't', BERTH_PROFILE: 'one' },
    { kind: 'profile', server: 'https://two', name: 'two' },
  ],
  [
    'a token flag at the server of the environment',
    { token: 't' },
    { BERTH_SERVER: 'two', BERTH_TOKEN: 'u' },
    { kind: 'given', server: 'https://two', token: 't' },
  ],
  [
    'the sign-in for the server of the environment, whose profile is of another one',
    {},
    { BERTH_SERVER: 'two', BERTH_PROFILE: 'one' },
    { kind: 'profile', server: 'https://two', name: 'two' },
  ],
  [
    'the sign-in for a server flag that one variable names, though the other does not',
    { server: 'two' },
    { BERTH_SERVER: 'two', BERTH_PROFILE: 'one' },
    { kind: 'profile', server: 'https://two', name: 'two' },
  ],
  [
    'the profile of the environment at its server',
    {},
    { BERTH_SERVER: 'one', BERTH_PROFILE: 'again' },
    { kind: 'profile', server: 'https://one', name: 'again' },
  ],
  ['an empty variable as none', {}, { BERTH_SERVER: '', BERTH_TOKEN: '' }, { kind: 'profile', name: 'one' }],
] as const) {
  t.test(`target: ${name}`, async (t) => t.match(targetOf(HOSTS, options, { env }), expected));
}

t.test('text of the service cannot drive the terminal, and tables line up all the same', async (t) => {
  t.equal(printable('a\u001b[31mb\u202e\r\n'), 'a[31mb');
  t.same(printableIn({ a: ['\u0007x'], b: 1, c: null }), { a: ['x'], b: 1, c: null });
  const named = { name: '\u009b6n\u007f\u001b[c' };
  t.notMatch(jsonText(named), /\p{Cc}/u);
  t.same(JSON.parse(jsonText(named)), named);
  t.equal(
    tableText(
      ['N', 'X'],
      [
        ['日本', '1'],
        ['\u001b[32mab\u001b[39m', '2'],
      ],
    ),
    'N     X\n日本  1\n\u001b[32mab\u001b[39m    2',
  );
  t.equal(sizeText(1536), '1.5 GB');
});

t.test('what the service says in a shell cannot drive the terminal', (t) => {
  const written: string[] = [];
  const [tty, err] = [{ isTTY: true }, { write: (text: string) => written.push(text) }];
  rawTerminal({ in: tty, out: tty, err } as unknown as Io)?.note('be\u001b[31mware\u0007\r\n\u009b2J');
  t.same(written, ['\r\n[berth: be[31mware2J]\r\n']);
  t.end();
});
