import t from 'tap';
import { batchByKey, batchedLookup } from '../../src/concurrency/batch.ts';

t.test('lookups of one turn are one query that starts after them', async (t) => {
  const batches: (readonly string[])[] = [];
  let version = 1;
  const find = batchedLookup(async (keys) => {
    batches.push(keys);
    const read = version;
    await new Promise((resolve) => setImmediate(resolve));
    return new Map(keys.filter((key) => key !== 'none').map((key) => [key, `${key}${read}`]));
  });
  const first = Promise.all(['a', 'b', 'a', 'none'].map(find));
  await new Promise((resolve) => setImmediate(resolve));
  version = 2;
  const second = find('a');
  t.same(await first, ['a1', 'b1', 'a1', null]);
  t.equal(await second, 'a2', 'it did not join the one that had started');
  t.same(batches, [['a', 'b', 'none'], ['a']]);
});

t.test('a failed lookup fails for all its callers, and the next one runs again', async (t) => {
  let fault: Error | null = new Error('no database');
  const find = batchedLookup(async (keys) => {
    if (fault) throw fault;
    return new Map(keys.map((key) => [key, key]));
  });
  const both = [find('a'), find('b')];
  for (const one of both) await t.rejects(one, fault);
  fault = null;
  t.equal(await find('a'), 'a');
});

/** Runs that end on request. */
function aScene(most: number) {
  const runs: { key: string; items: readonly string[]; end(error?: Error): void }[] = [];
  const ask = batchByKey<string>(most, (key, items) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly []>();
    runs.push({ key, items, end: (error) => (error === undefined ? resolve([]) : reject(error)) });
    return promise;
  });
  return { runs, ask, soon: () => new Promise((resolve) => setImmediate(resolve)) };
}

t.test('requests during a run go into the next ones, up to the limit', async (t) => {
  const { runs, ask, soon } = aScene(2);
  const all = ['a', 'b', 'c', 'd'].map((item) => ask('one', item));
  t.same(
    runs.map(({ items }) => items),
    [['a']],
  );
  for (const expected of [['b', 'c'], ['d']]) {
    runs.at(-1)?.end();
    await soon();
    t.same(runs.at(-1)?.items, expected);
  }
  runs.at(-1)?.end();
  await Promise.all(all);
  void ask('one', 'e');
  t.same(runs.at(-1)?.items, ['e'], 'and a later one begins at once');
});

t.test('keys do not wait for each other', async (t) => {
  const { runs, ask } = aScene(2);
  void ask('one', 'a');
  void ask('two', 'b');
  t.same(
    runs.map(({ key, items }) => [key, items]),
    [
      ['one', ['a']],
      ['two', ['b']],
    ],
  );
});

t.test('a failed run fails only its own callers', async (t) => {
  const { runs, ask, soon } = aScene(2);
  const [first, second] = [ask('one', 'a'), ask('one', 'b')];
  runs[0]?.end(new Error('no engine'));
  await t.rejects(first, { message: 'no engine' });
  await soon();
  runs[1]?.end();
  await t.resolves(second);
});

t.test('per-item results fail only their items', async (t) => {
  const ask = batchByKey<string>(9, async (_, items) =>
    items.map((item) => (item === 'stuck' ? new Error('still there') : null)),
  );
  void ask('one', 'first');
  const [stuck, fine] = [ask('one', 'stuck'), ask('one', 'fine')];
  await t.rejects(stuck, { message: 'still there' });
  await t.resolves(fine);
});
