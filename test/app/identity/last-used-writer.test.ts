import t from 'tap';
import { lastUsedWriter } from '../../../src/app/identity/auth/last-used-writer.ts';
import type { Use } from '../../../src/ports/identity/session-repository.ts';

const MINUTE = 60_000;

/** Touches with a manual clock and a store that can fail. */
function setUp() {
  const writes: Use[][] = [];
  const state = { nowMs: 1_000_000, fault: null as Error | null };
  const seen = lastUsedWriter({
    everyMs: MINUTE,
    nowMs: () => state.nowMs,
    write: async (uses) => {
      if (state.fault) throw state.fault;
      writes.push([...uses]);
    },
  });
  return { seen, writes, state, at: (ms: number) => new Date(1_000_000 + ms) };
}

t.test('a first use is written before the promise settles, and once however many come', async (t) => {
  const { seen, writes, at } = setUp();
  await Promise.all([1, 2, 3].map(() => seen.used('a', null)));
  t.same(writes, [[{ id: 'a', at: at(0) }]]);
  t.equal(seen.used('a', null), undefined, 'what the caller read before is known to be written by now');
  t.equal(seen.pending('a'), null);
  await seen.flushAll();
  t.equal(writes.length, 1);
});

t.test('later uses are pending at once and written once a minute', async (t) => {
  const { seen, writes, state, at } = setUp();
  await seen.used('a', null);
  for (let second = 1; second <= 180; second += 1) {
    state.nowMs += 1000;
    for (let i = 0; i < 100; i += 1) void seen.used('a', null);
    await seen.flush();
    if (second % 60 !== 0) t.same(seen.pending('a'), at(second * 1000));
  }
  t.same(
    writes.map(([use]) => use?.at),
    [at(0), at(60_000), at(120_000), at(180_000)],
  );
});

t.test('a last use is written a minute after the previous write, without another use', async (t) => {
  const { seen, writes, state, at } = setUp();
  await seen.used('a', null);
  state.nowMs += 10_000;
  void seen.used('a', null);
  await seen.flush();
  t.equal(writes.length, 1, 'not due yet');
  state.nowMs += 50_000;
  await seen.flush();
  t.same(writes[1], [{ id: 'a', at: at(10_000) }]);
  t.equal(seen.pending('a'), null);
});

t.test("another process's recent write is not repeated", async (t) => {
  const { seen, writes, state } = setUp();
  void seen.used('a', state.nowMs - 59_000);
  await seen.flush();
  t.same(writes, []);
  state.nowMs += 30_000;
  void seen.used('a', state.nowMs - 1000);
  state.nowMs += 30_000;
  await seen.flush();
  t.same(writes, [], 'it wrote again meanwhile');
});

t.test('many uses are written in one batch, each with its time', async (t) => {
  const { seen, writes, state, at } = setUp();
  void seen.used('a', 0);
  state.nowMs += 5;
  void seen.used('b', 0);
  await seen.flush();
  t.same(writes, [
    [
      { id: 'a', at: at(0) },
      { id: 'b', at: at(5) },
    ],
  ]);
});

t.test("a failed write's uses are in the next one, with later ones", async (t) => {
  const { seen, writes, state, at } = setUp();
  void seen.used('a', 0);
  void seen.used('b', 0);
  state.fault = new Error('no database');
  await t.rejects(seen.flush(), state.fault);
  t.same(seen.pending('a'), at(0), 'still shown as used');
  state.nowMs += 7;
  void seen.used('a', 0);
  state.fault = null;
  await seen.flush();
  t.same(writes, [
    [
      { id: 'a', at: at(7) },
      { id: 'b', at: at(0) },
    ],
  ]);
});

t.test('a first use that cannot be written fails no request, and is written later', async (t) => {
  const { seen, writes, state, at } = setUp();
  state.fault = new Error('no database');
  await t.resolves(seen.used('a', null) ?? Promise.reject(new Error('nothing to wait for')));
  t.same(seen.pending('a'), at(0));
  t.equal(seen.used('a', null), undefined, 'nobody waits for a second try');
  state.fault = null;
  await seen.flush();
  t.same(writes, [[{ id: 'a', at: at(0) }]]);
});

t.test('a use during a write is not lost', async (t) => {
  const uses: Use[] = [];
  const state = { nowMs: 1_000_000, done: (): void => undefined };
  const seen = lastUsedWriter({
    everyMs: MINUTE,
    nowMs: () => state.nowMs,
    write: (batch) => {
      uses.push(...batch);
      return new Promise((resolve) => {
        state.done = resolve;
      });
    },
  });
  void seen.used('a', 0);
  const flushed = seen.flush();
  await Promise.resolve();
  state.nowMs += 5;
  void seen.used('a', 0);
  state.done();
  await flushed;
  t.same(seen.pending('a'), new Date(1_000_005));
  const last = seen.flushAll();
  await new Promise((resolve) => setImmediate(resolve));
  state.done();
  await last;
  t.same(
    uses.map(({ at }) => at.getTime()),
    [1_000_000, 1_000_005],
  );
});

t.test('shutdown writes all pending uses, due or not', async (t) => {
  const { seen, writes, state, at } = setUp();
  await seen.used('a', null);
  state.nowMs += 1;
  void seen.used('a', null);
  await seen.flushAll();
  t.same(writes[1], [{ id: 'a', at: at(1) }]);
});
