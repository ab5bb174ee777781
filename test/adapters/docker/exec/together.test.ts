import t from 'tap';
import { batchByKey } from '../../../../src/adapters/docker/terminals/batch-by-key.ts';

/** Runs that end when the test says so. */
function aScene(most: number) {
  const runs: { key: string; items: readonly string[]; end(error?: Error): void }[] = [];
  const ask = batchByKey<string>(most, (key, items) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly []>();
    runs.push({ key, items, end: (error) => (error === undefined ? resolve([]) : reject(error)) });
    return promise;
  });
  return { runs, ask, soon: () => new Promise((resolve) => setImmediate(resolve)) };
}

t.test('what comes during a run goes into the next ones, at most so much at a time', async (t) => {
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

t.test('a run that fails is the answer to those that were in it alone', async (t) => {
  const { runs, ask, soon } = aScene(2);
  const [first, second] = [ask('one', 'a'), ask('one', 'b')];
  runs[0]?.end(new Error('no engine'));
  await t.rejects(first, { message: 'no engine' });
  await soon();
  runs[1]?.end();
  await t.resolves(second);
});

t.test('a run that answers for each item fails those alone that it could not do', async (t) => {
  const ask = batchByKey<string>(9, async (_, items) =>
    items.map((item) => (item === 'stuck' ? new Error('still there') : null)),
  );
  void ask('one', 'first');
  const [stuck, fine] = [ask('one', 'stuck'), ask('one', 'fine')];
  await t.rejects(stuck, { message: 'still there' });
  await t.resolves(fine);
});
