import t from 'tap';
import { tokenTree } from '../../src/client/token-tree.ts';
import type { ApiToken, Container } from '../../web/src/api/types.ts';
import { endWords } from '../../web/src/lib/format/lifetime.ts';
import { tokenFacts, tokenIsOver } from '../../web/src/lib/format/token-facts.ts';
import type { ListQuery } from '../../web/src/state/container-list.ts';
import { arrivedIn } from '../../web/src/views/containers/list/use-arrivals.ts';

const now = new Date('2026-01-02T00:00:00Z');

type Lifetime = NonNullable<Container['lifetime']>;
type End = NonNullable<Lifetime['next_end']>;

const wordsOf = (end: End | null, over: Partial<Lifetime> = {}) =>
  endWords({ lifetime: { ...NONE, next_end: end, ...over } }, now);

const NONE = { ephemeral: false, on_idle: 'stop', idle_seconds: null } as Lifetime;

t.test('a row says when a container ends by itself, what happens then, and why', async (t) => {
  t.equal(endWords({ lifetime: null }, now), null);
  t.equal(wordsOf(null), null, 'nothing ends it');
  t.match(wordsOf({ at: '2026-01-02T02:00:00Z', action: 'stop', because: 'time' }), {
    words: /^will be stopped in 2 h$/,
    reason: /, because its time ends$/,
    isSoon: false,
  });
  t.match(wordsOf({ at: '2026-01-02T00:04:00Z', action: 'delete', because: 'idle' }, { idle_seconds: 600 }), {
    words: /^will be deleted in 4 min if unused$/,
    reason: /, because nothing uses it for 10 min$/,
    isSoon: true,
  });
});

const aToken = (id: string, over: Partial<ApiToken> = {}): ApiToken => ({
  id,
  name: id,
  token_prefix: 'svc_01234567',
  scopes: ['read'],
  created_at: '2026-01-01T00:00:00Z',
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  revoked_reason: null,
  parent_id: null,
  containers: null,
  max_uses: null,
  uses_left: null,
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

const ALL = { shared: 'false', q: '', status: '', sort: 'name' } as const;

t.test('a row arrives when its container is new, not when scrolling loads it', async (t) => {
  const list = (names: string, total: number, query: ListQuery = ALL) => ({
    items: [...names].map((db_id) => ({ db_id }) as Container),
    total,
    query,
  });
  t.same(arrivedIn(list('ac', 2), list('abc', 3)), ['b']);
  t.same(arrivedIn(list('ab', 2), list('abc', 3)), ['c'], 'at the end of a list that is loaded to its end');
  t.same(arrivedIn(list('', 0), list('a', 1)), ['a'], 'the first of all');
  t.same(arrivedIn(list('ac', 4), list('abc', 5)), ['b'], 'between rows of a longer list');
  t.same(
    arrivedIn(list('ab', 4), list('abcd', 5)),
    [],
    'the page that scrolling loads, when the total has grown',
  );
  t.same(arrivedIn(list('ab', 3), list('abc', 3)), []);
  t.same(arrivedIn(list('ab', 2), list('abc', 3, { ...ALL, q: 'a' })), [], 'another query');
});
