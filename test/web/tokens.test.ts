import t from 'tap';
import type { ApiToken } from '../../web/src/api/types.ts';
import { tokenFacts, tokenIsOver, tokenTree } from '../../web/src/lib/format/token-facts.ts';

const now = new Date('2026-01-02T00:00:00Z');

const aToken = (id: string, over: Partial<ApiToken> = {}): ApiToken => ({
  ...{ id, name: id, token_prefix: 'svc_01234567', scopes: ['read'], created_at: '2026-01-01T00:00:00Z' },
  ...{ expires_at: null, last_used_at: null, revoked_at: null, revoked_reason: null },
  ...{ parent_id: null, containers: null, max_uses: null, uses_left: null },
  ...over,
});

t.test('each token is followed by its children; one whose parent is gone comes as a first', async (t) => {
  const list = [
    aToken('grandchild', { parent_id: 'child' }),
    aToken('orphan', { parent_id: 'deleted' }),
    aToken('child', { parent_id: 'first' }),
    aToken('second'),
    aToken('first'),
  ];
  t.same(
    tokenTree(list).map(({ token, level }) => [token.id, level]),
    [
      ['orphan', 0],
      ['second', 0],
      ['first', 0],
      ['child', 1],
      ['grandchild', 2],
    ],
  );
});

t.test('a row says what a token is for, and how it ended', async (t) => {
  const names = new Map([['a', 'dev']]);
  const facts = (over: Partial<ApiToken>) => tokenFacts(aToken('x', over), names, now);
  t.equal(facts({}), 'svc_01234567… · read · never used · does not expire');
  t.match(facts({ containers: ['a'] }), '· only for dev ·');
  t.match(facts({ containers: ['a', 'b', 'c'] }), '· only for dev, 2 containers not in your list ·');
  t.match(facts({ max_uses: 9, uses_left: 4 }), '· 4 of 9 requests left ·');
  const revoked_at = '2026-01-01T00:00:00Z';
  t.match(facts({ revoked_at }), /revoked 1 d ago$/);
  t.match(facts({ revoked_at, revoked_reason: 'parent_revoked' }), /revoked 1 d ago with its parent token$/);
  t.same(
    [aToken('x'), aToken('x', { max_uses: 1, uses_left: 0 }), aToken('x', { revoked_at })].map((one) =>
      tokenIsOver(one, now),
    ),
    [false, true, true],
  );
});
