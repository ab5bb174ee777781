import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { authorize, type Caller, isAdmin } from '../../../src/domain/identity/caller.ts';
import type { RouteScope, Scope } from '../../../src/domain/identity/scope.ts';
import {
  checkTokenLimit,
  checkTokenRequest,
  isTokenShaped,
  MAX_LIVE_TOKENS,
  MAX_STORED_TOKENS,
  mayGrant,
  mintToken,
  type TokenDraft,
  type TokenRequest,
  tokenAccepted,
  tokenState,
} from '../../../src/domain/identity/token.ts';
import { aCaller, anyCharacter, aToken, aUser } from '../../support/samples/samples.ts';

const login = (role: 'user' | 'admin'): Caller => aCaller({ user: aUser({ role }) });
const byToken = (role: 'user' | 'admin', ...scopes: Scope[]): Caller =>
  aCaller({
    user: aUser({ role }),
    credential: {
      kind: 'api_token',
      tokenId: 'x',
      prefix: 'svc_0',
      scopes,
      name: 'ci',
      containers: null,
      usesLeft: null,
    },
  });

type Access = true | 'not_authorized' | 'insufficient_scope' | 'login_token_required' | 'api_token_rejected';
const [TOO_FEW, LOGIN, NO_TOKEN] = [
  'insufficient_scope',
  'login_token_required',
  'api_token_rejected',
] as const;
const SCOPES: readonly RouteScope[] = ['public', 'read', 'write', 'admin', 'login', 'api_token'];

const CALLERS: readonly (readonly [string, Caller, ...Access[]])[] = [
  ['user', login('user'), true, true, true, 'not_authorized', true, NO_TOKEN],
  ['admin', login('admin'), true, true, true, true, true, NO_TOKEN],
  ['token read', byToken('user', 'read'), true, true, TOO_FEW, TOO_FEW, LOGIN, true],
  ['token write', byToken('user', 'write'), true, true, true, TOO_FEW, LOGIN, true],
  ["user's token admin", byToken('user', 'admin'), true, true, true, 'not_authorized', LOGIN, true],
  ["admin's token write", byToken('admin', 'write'), true, true, true, TOO_FEW, LOGIN, true],
  ["admin's token admin", byToken('admin', 'admin'), true, true, true, true, LOGIN, true],
];

t.test("a credential's rights follow from its kind, its scopes and its user's role", async (t) => {
  for (const [name, caller, ...expected] of CALLERS) {
    const opened = SCOPES.map((scope) => authorize(caller, scope));
    t.same(
      opened.map((result) => result.ok || result.error.code),
      expected,
      name,
    );
  }
});

t.test('an administrator needs the role and, with an API token, the scope', async (t) => {
  const admins = CALLERS.filter(([, caller]) => isAdmin(caller));
  t.same(
    admins.map(([name]) => name),
    ['admin', "admin's token admin"],
  );
});

const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);

t.test('a token is active until it is revoked, expired or deleted', async (t) => {
  const cases: [string, Parameters<typeof tokenState>, string][] = [
    ['fresh, for ever', [aToken(), at(1e9)], 'active'],
    [
      'a millisecond before its end',
      [aToken({ expiresAt: at(10) }), new Date(at(10).getTime() - 1)],
      'active',
    ],
    ['at its end', [aToken({ expiresAt: at(10) }), at(10)], 'expired'],
    ['revoked', [aToken({ revokedAt: at(1) }), at(2)], 'revoked'],
    ['revoked, then its time passed', [aToken({ revokedAt: at(1), expiresAt: at(5) }), at(9)], 'revoked'],
    ['no row', [null, at(0)], 'deleted'],
  ];
  for (const [name, args, expected] of cases) t.equal(tokenState(...args), expected, name);
});

t.test('only an active token of an enabled user is accepted', async (t) => {
  t.ok(tokenAccepted(aToken(), aUser(), at(0)));
  t.notOk(tokenAccepted(aToken({ revokedAt: at(0) }), aUser(), at(0)));
  t.notOk(tokenAccepted(aToken({ expiresAt: at(0) }), aUser(), at(0)));
  t.notOk(tokenAccepted(aToken(), aUser({ disabledAt: at(0) }), at(0)));
});

t.test('a secret is svc_ and its random bytes in hex; 12 characters of it may be shown', async (t) => {
  const random = createHash('sha256').update('seed').digest();
  const { secret, prefix } = mintToken(random);
  t.equal(secret, `svc_${random.toString('hex')}`);
  t.equal(prefix, secret.slice(0, 12));
  t.ok(isTokenShaped(secret));
  t.throws(() => mintToken(random.subarray(1)), 'fewer bytes are a fault, not a weaker token');
});

t.test('anything but svc_ and 64 lower-case hex digits is no token', async (t) => {
  const good = `svc_${'0a'.repeat(32)}`;
  t.ok(isTokenShaped(good));
  for (const text of [
    '',
    'svc_',
    good.slice(0, -1),
    `${good}0`,
    `${good}\n`,
    ` ${good}`,
    good.toUpperCase(),
    `svc_${'0A'.repeat(32)}`,
    `svc-${'0a'.repeat(32)}`,
    `svc_${'0g'.repeat(32)}`,
    `svc_${'０a'.repeat(32)}`,
  ]) {
    t.notOk(isTokenShaped(text), JSON.stringify(text));
  }
});

const read = (draft: TokenDraft): TokenRequest | Readonly<Record<string, string>> => {
  const result = checkTokenRequest(draft);
  if (result.ok) return result.value;
  return result.error.code === 'validation_failed' ? result.error.fields : { code: result.error.code };
};

t.test('a token request has a name; scopes default to read and write, and life to for ever', async (t) => {
  t.same(read({ name: 'ci' }), { name: 'ci', scopes: ['read', 'write'], lifeMs: null });
  t.same(
    read({ name: ' \t ci\u00a0\n' }),
    { name: 'ci', scopes: ['read', 'write'], lifeMs: null },
    'trimmed',
  );
  t.same(read({ name: 'ci', scopes: ['admin', 'read', 'admin'] }), {
    name: 'ci',
    scopes: ['admin', 'read'],
    lifeMs: null,
  });
});

t.test('a missing, empty or non-string name is required', async (t) => {
  const nameless = [undefined, null, 1, true, '', ' ', '\n\t', '\ufeff', [], ['ci'], {}, Number.NaN];
  for (const name of nameless) t.same(read({ name }), { name: 'is required' }, JSON.stringify(name));
  t.same(read({}), { name: 'is required' });
});

t.test('a token name has 1 to 100 characters, no control characters or unpaired surrogates', async (t) => {
  const tooLong = { name: 'must have at most 100 characters' };
  t.match(read({ name: 'x'.repeat(100) }), { name: 'x'.repeat(100) });
  t.match(read({ name: '😀'.repeat(100) }), { name: '😀'.repeat(100) }, 'code points are counted');
  t.same(read({ name: 'x'.repeat(101) }), tooLong);
  t.same(read({ name: '😀'.repeat(101) }), tooLong);
  t.match(read({ name: ` ${'x'.repeat(100)} ` }), { name: 'x'.repeat(100) }, 'counted after trimming');
  for (const bad of ['a\0b', 'a\nb', 'a\u001bb', 'a\u007fb', 'a\u0085b', '\ud800', 'a\udc00', '\0']) {
    t.same(read({ name: bad }), { name: 'must not have control characters' }, JSON.stringify(bad));
  }
  for (const good of ['ci', "O'Neil; drop table--", '家族 👨‍👩‍👧', '<script>', '__proto__']) {
    t.match(read({ name: good }), { name: good }, good);
  }
});

t.test('scopes are a list of one or more of the three', async (t) => {
  const fault = { scopes: 'must be one or more of read, write and admin' };
  for (const scopes of [
    [],
    ['root'],
    ['read', 'READ'],
    ['read', 1],
    'read',
    { 0: 'read' },
    null,
    7,
    [['read']],
  ]) {
    t.same(read({ name: 'ci', scopes }), fault, JSON.stringify(scopes));
  }
});

t.test('a life is a number of days above 0 and at most 3650; fractions count', async (t) => {
  const lives: [number, number][] = [
    [1, 86_400_000],
    [0.5, 43_200_000],
    [3650, 315_360_000_000],
    [1e-9, 1],
    [Number.MIN_VALUE, 1],
  ];
  for (const [lifeDays, lifeMs] of lives) t.match(read({ name: 'ci', lifeDays }), { lifeMs }, `${lifeDays}`);
  const fault = { lifeDays: 'must be above 0 and at most 3650' };
  const huge = [JSON.parse('1e400'), 1e308, 3650.0001, Number.POSITIVE_INFINITY];
  for (const lifeDays of [...huge, 0, -0, -1, Number.NaN, '7', null, true, [], {}]) {
    t.same(read({ name: 'ci', lifeDays }), fault, String(lifeDays));
  }
});

t.test('every fault of a token request is named at once, the name first', async (t) => {
  t.same(Object.keys(read({ scopes: [], lifeDays: 0 })), ['name', 'scopes', 'lifeDays']);
});

t.test('any token request is valid or refused', async () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), fc.anything(), (name, scopes, lifeDays) => {
      const result = checkTokenRequest({ name, scopes, lifeDays });
      return result.ok || Object.keys((result.error as { fields: object }).fields).length > 0;
    }),
  );
  const given = fc.record({
    name: fc.string({ unit: anyCharacter }),
    scopes: fc.array(fc.constantFrom('read', 'write', 'admin')),
    lifeDays: fc.double(),
  });
  fc.assert(
    fc.property(given, (draft) => {
      const result = checkTokenRequest(draft);
      if (!result.ok) return true;
      const { name, scopes, lifeMs } = result.value;
      const length = [...name].length;
      const bounded = length >= 1 && length <= 100 && name.isWellFormed() && name === name.trim();
      const living = lifeMs !== null && Number.isSafeInteger(lifeMs) && lifeMs >= 1;
      return bounded && living && scopes.length > 0 && new Set(scopes).size === scopes.length;
    }),
  );
});

t.test('only administrators may request the scope admin', async (t) => {
  const admin = aUser({ role: 'admin' });
  t.same(mayGrant(aUser(), ['read', 'admin']), { ok: false, error: { code: 'not_authorized' } });
  t.ok(mayGrant(aUser(), ['read', 'write']).ok);
  t.ok(mayGrant(admin, ['admin']).ok);
});

t.test('a user has at most 100 live tokens, and a limited list', async (t) => {
  const full = { ok: false, error: { code: 'token_limit_reached', max: MAX_LIVE_TOKENS } };
  t.ok(checkTokenLimit(99, 99).ok);
  t.same(checkTokenLimit(100, 100), full);
  t.ok(checkTokenLimit(99, MAX_STORED_TOKENS - 1).ok);
  t.same(checkTokenLimit(0, MAX_STORED_TOKENS), full);
});
