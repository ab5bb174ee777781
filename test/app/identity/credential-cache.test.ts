import t from 'tap';
import { invalidatedCache } from '../../../src/app/identity/auth/credential-cache.ts';

/** A cache over `rows` with delayable lookups. */
function setUp() {
  const rows = new Map([
    ['a', 'ada'],
    ['b', 'bob'],
  ]);
  const state = { nowMs: 0, hears: true, lifeMs: Number.POSITIVE_INFINITY, asked: 0 };
  let gate: Promise<void> = Promise.resolve();
  const cache = invalidatedCache<string>({
    find: async (key) => {
      state.asked += 1;
      const read = rows.get(key) ?? null;
      await gate;
      return read;
    },
    lifeMs: () => state.lifeMs,
    isBusConnected: () => state.hears,
    monotonicMs: () => state.nowMs,
  });
  const hold = (): (() => void) => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return () => {
      open();
      gate = Promise.resolve();
    };
  };
  return { rows, state, cache, hold };
}

t.test('a cached value is answered for a second, then read again', async (t) => {
  const { cache, state } = setUp();
  t.equal(cache.peek('a'), null);
  t.equal(await cache.find('a'), 'ada');
  t.equal(cache.peek('a'), 'ada');
  state.nowMs = 999;
  t.equal(cache.peek('a'), 'ada');
  state.nowMs = 1000;
  t.equal(cache.peek('a'), null);
});

t.test('a cached value is not answered after its own expiry', async (t) => {
  const { cache, state } = setUp();
  state.lifeMs = 10;
  await cache.find('a');
  state.nowMs = 9;
  t.equal(cache.peek('a'), 'ada');
  state.nowMs = 10;
  t.equal(cache.peek('a'), null);
});

t.test('a missing value is never cached', async (t) => {
  const { cache, rows } = setUp();
  t.equal(await cache.find('c'), null);
  rows.set('c', 'cleo');
  t.equal(cache.peek('c'), null);
  t.equal(await cache.find('c'), 'cleo');
});

t.test('an invalidation drops exactly its values', async (t) => {
  const { cache } = setUp();
  await Promise.all([cache.find('a'), cache.find('b')]);
  cache.forget((value) => value === 'ada');
  t.same([cache.peek('a'), cache.peek('b')], [null, 'bob']);
});

t.test('a read that began before a change is not cached after it', async (t) => {
  const { cache, hold, rows } = setUp();
  const release = hold();
  const early = cache.find('a');
  rows.delete('a');
  cache.forget((value) => value === 'ada');
  release();
  t.equal(await early, 'ada', 'it was good when it was asked for');
  t.equal(cache.peek('a'), null);
  t.equal(await cache.find('a'), null);
});

t.test('while messages may be missed, everything is read', async (t) => {
  const { cache, state } = setUp();
  await cache.find('a');
  state.hears = false;
  t.equal(cache.peek('a'), null);
  await cache.find('b');
  state.hears = true;
  t.equal(cache.peek('b'), null, 'nor was it kept');
});

t.test('the cache has a maximum size', async (t) => {
  const { cache, rows } = setUp();
  for (let i = 0; i <= 10_000; i += 1) rows.set(`${i}`, `row ${i}`);
  for (let i = 0; i < 10_000; i += 1) await cache.find(`${i}`);
  t.equal(cache.peek('0'), 'row 0');
  await cache.find('0');
  await cache.find('10000');
  t.same(
    [cache.peek('0'), cache.peek('1'), cache.peek('2')],
    ['row 0', null, 'row 2'],
    'the oldest has gone',
  );
});
