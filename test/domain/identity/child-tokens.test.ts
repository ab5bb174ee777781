import fc from 'fast-check';
import t from 'tap';
import { admitRestricted, type Caller, isRestricted, reaches } from '../../../src/domain/identity/caller.ts';
import {
  type ChildDraft,
  type ChildRequest,
  checkChildRequest,
  MAX_TOKEN_DEPTH,
  narrow,
  resolveContainers,
} from '../../../src/domain/identity/child-token.ts';
import { grants, type Scope } from '../../../src/domain/identity/scope.ts';
import { tokenState, tokenStillGood } from '../../../src/domain/identity/token.ts';
import { aCaller, aToken, aUser } from '../../support/samples/samples.ts';

const MINUTE_MS = 60_000;
const now = new Date('2026-01-01T00:00:00Z');
const after = (ms: number): Date => new Date(now.getTime() + ms);
const [A, B, C] = ['a', 'b', 'c'].map((letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];
const asked = (over: Partial<ChildRequest> = {}): ChildRequest => ({
  name: 'job',
  scopes: ['read'],
  lifeMs: null,
  lifeField: 'lifeDays',
  containers: null,
  maxUses: null,
  ...over,
});

t.test('a request has all its faults at once, and the defaults of its parent', async (t) => {
  const faulty: readonly (readonly [ChildDraft, readonly string[]])[] = [
    [{}, ['name']],
    [{ name: 'x', scopes: ['root'], containers: [] }, ['scopes', 'containers']],
    [{ name: 'x', containers: 'dev' }, ['containers']],
    [{ name: 'x', containers: [''] }, ['containers']],
    [{ name: 'x', containers: Array.from({ length: 51 }, () => A) }, ['containers']],
    [{ name: 'x', lifeDays: 1, expiresInMinutes: 1 }, ['expiresInMinutes']],
    [{ name: 'x', expiresInMinutes: 0 }, ['expiresInMinutes']],
    [{ name: 'x', expiresInMinutes: 0.5 }, ['expiresInMinutes']],
    [{ name: 'x', lifeDays: 0, maxUses: 0 }, ['lifeDays', 'maxUses']],
    [{ name: 'x', maxUses: 1_000_001 }, ['maxUses']],
    [{ name: 'x', maxUses: '1' }, ['maxUses']],
  ];
  for (const [draft, fields] of faulty) {
    const found = checkChildRequest(draft, ['read']);
    const named =
      !found.ok && found.error.code === 'validation_failed' ? Object.keys(found.error.fields) : [];
    t.same(new Set(named), new Set(fields), JSON.stringify(draft));
  }
  const made = (draft: ChildDraft, scopes: readonly Scope[] | null) => {
    const result = checkChildRequest({ name: 'x', ...draft }, scopes);
    return result.ok ? result.value : result;
  };
  t.match(made({}, ['admin']), { scopes: ['admin'], lifeMs: null, containers: null, maxUses: null });
  t.match(made({}, null), { scopes: ['read', 'write'] });
  t.match(made({ expiresInMinutes: 30, containers: ['dev'], maxUses: 7 }, null), {
    lifeMs: 30 * MINUTE_MS,
    containers: ['dev'],
    maxUses: 7,
  });
});

t.test('a child is never wider than its parent', async (t) => {
  const parent = aToken({ scopes: ['write'], expiresAt: after(MINUTE_MS), containers: [A, B] });
  const cases: readonly (readonly [string, Partial<ChildRequest>, object])[] = [
    ['the same', { scopes: ['write'] }, { parentId: parent.id, depth: 1, containers: [A, B] }],
    ['a scope that another includes', { scopes: ['read'] }, { containers: [A, B] }],
    ['one container', { containers: [B] }, { containers: [B] }],
    ['a use count', { maxUses: 2 }, { maxUses: 2, usesLeft: 2 }],
    ['its very end', { lifeMs: MINUTE_MS }, { depth: 1 }],
    [
      'a greater scope',
      { scopes: ['read', 'admin'] },
      { code: 'validation_failed', fields: { scopes: /exceed/ } },
    ],
    ['another container', { containers: [A, C] }, { fields: { containers: /yours/ } }],
    ['a later end', { lifeMs: MINUTE_MS + 1 }, { fields: { lifeDays: /later/ } }],
    [
      'a later end in minutes',
      { lifeMs: 2 * MINUTE_MS, lifeField: 'expiresInMinutes' },
      { fields: { expiresInMinutes: /later/ } },
    ],
  ];
  for (const [name, over, expected] of cases) {
    const result = narrow(parent, asked(over), now);
    t.match(result.ok ? result.value : result.error, expected, name);
  }
});

t.test('a token that is over, counted or too deep makes no other', async (t) => {
  const cases = [
    [{ revokedAt: now }, 'api_token_rejected'],
    [{ expiresAt: now }, 'api_token_rejected'],
    [{ maxUses: 2, usesLeft: 0 }, 'api_token_rejected'],
    [{ maxUses: 2, usesLeft: 1 }, 'token_cannot_derive'],
    [{ depth: MAX_TOKEN_DEPTH }, 'token_cannot_derive'],
    [{ depth: MAX_TOKEN_DEPTH - 1 }, null],
  ] as const;
  for (const [over, code] of cases) {
    const result = narrow(aToken(over), asked(), now);
    t.equal(result.ok ? null : result.error.code, code, JSON.stringify(over));
  }
});

t.test('along any line of tokens, nothing is gained', async (t) => {
  const scopes = fc.subarray<Scope>(['read', 'write', 'admin'], { minLength: 1 });
  const containers = fc.option(fc.subarray([A, B, C], { minLength: 1 }));
  const step = fc.record({ scopes, containers, lifeMs: fc.option(fc.integer({ min: 1, max: 9 })) });
  const line = fc.array(step, { minLength: 1, maxLength: MAX_TOKEN_DEPTH });
  fc.assert(
    fc.property(line, (steps) => {
      const root = aToken({ scopes: ['write'], expiresAt: after(5), containers: [A, B] });
      let last = root;
      for (const one of steps) {
        const made = narrow(last, asked(one), now);
        if (!made.ok) continue;
        const expiresAt = one.lifeMs === null ? last.expiresAt : after(one.lifeMs);
        last = aToken({ ...made.value, scopes: one.scopes, expiresAt });
        const inside = last.containers?.every((id) => root.containers?.includes(id)) ?? false;
        const inTime = last.expiresAt !== null && last.expiresAt <= after(5);
        if (!inside || !inTime || !last.scopes.every((scope) => grants(root.scopes, scope)))
          throw new Error(JSON.stringify(last));
      }
    }),
  );
  t.pass();
});

t.test('containers are named by db id or own name; anything else is one fault', async (t) => {
  const visible = [
    { dbId: A, name: 'dev' },
    { dbId: B, name: A },
    { dbId: C, name: null },
  ];
  const found = (...references: string[]) => {
    const result = resolveContainers(references, visible);
    return result.ok ? result.value : result.error;
  };
  t.same(found('dev'), [A]);
  t.same(found(A.toUpperCase(), 'dev'), [A], 'once each');
  t.same(found(A), [A], 'an id comes before a name that looks like it');
  t.same(found(C), [C]);
  for (const unknown of ['other', 'DEV', '99999999-9999-4999-8999-999999999999'])
    t.match(found('dev', unknown), { code: 'validation_failed', fields: { containers: String } });
});

t.test('a used-up token admits no request, and lets the last one end', async (t) => {
  const token = aToken({ maxUses: 1, usesLeft: 0 });
  t.equal(tokenState(token, now), 'used_up');
  t.ok(tokenStillGood(token, aUser(), now));
  t.notOk(tokenStillGood({ ...token, revokedAt: now }, aUser(), now));
  t.notOk(tokenStillGood(token, aUser({ disabledAt: now }), now));
  t.notOk(tokenStillGood({ ...token, expiresAt: now }, aUser(), now));
});

t.test('a restricted token reaches its containers, by routes for them', async (t) => {
  const caller = (containers: readonly string[] | null): Caller =>
    aCaller({
      credential: {
        kind: 'api_token',
        tokenId: 't',
        prefix: 'svc_0',
        name: 'ci',
        scopes: ['admin'],
        usesLeft: null,
        containers,
      },
    });
  t.same(
    [A, B].map((id) => reaches(caller([A]), id)),
    [true, false],
  );
  for (const free of [caller(null), aCaller()]) {
    t.notOk(isRestricted(free));
    t.ok(reaches(free, B));
    t.ok(admitRestricted(free).ok);
  }
  t.ok(admitRestricted(caller([A]), true).ok);
  t.match(admitRestricted(caller([A])), { ok: false, error: { code: 'token_restricted' } });
});
