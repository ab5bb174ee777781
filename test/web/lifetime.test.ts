import t from 'tap';
import type { Container } from '../../web/src/api/types.ts';
import { endWords } from '../../web/src/lib/format/lifetime.ts';

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
