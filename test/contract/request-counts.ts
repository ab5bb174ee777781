import t from 'tap';
import type { RequestCounts } from '../../src/ports/request-counts.ts';

/** What counting requests over all processes must guarantee. */
export async function requestCountsContract(name: string, counts: RequestCounts): Promise<void> {
  await t.test(
    `${name}: counts of a key in a minute add up, and the minute before is told with them`,
    async (t) => {
      const first = await counts.add([
        { key: 'a', minute: 10, count: 3 },
        { key: 'b', minute: 11, count: 1 },
      ]);
      t.ok(first.now instanceof Date);
      t.same(
        new Set(first.tallies.map(({ key, count, countBefore }) => `${key} ${count} ${countBefore}`)),
        new Set(['a 3 0', 'b 1 0']),
      );
      const { tallies } = await counts.add([{ key: 'a', minute: 10, count: 4 }]);
      t.same(tallies, [{ key: 'a', minute: 10, count: 7, countBefore: 0 }]);
      const next = await counts.add([{ key: 'a', minute: 11, count: 2 }]);
      t.same(next.tallies, [{ key: 'a', minute: 11, count: 2, countBefore: 7 }]);
    },
  );

  await t.test(`${name}: additions at once all count`, async (t) => {
    const keys = ['x', 'y', 'z'].map((key) => ({ key, minute: 20, count: 1 }));
    await Promise.all(Array.from({ length: 20 }, (_, i) => counts.add(i % 2 ? keys : keys.toReversed())));
    const { tallies } = await counts.add(keys);
    t.same(
      tallies.map(({ count }) => count),
      [21, 21, 21],
    );
  });

  await t.test(`${name}: old minutes are forgotten`, async (t) => {
    await counts.add([
      { key: 'old', minute: 30, count: 5 },
      { key: 'old', minute: 31, count: 5 },
    ]);
    await counts.forgetBefore(31);
    const { tallies } = await counts.add([
      { key: 'old', minute: 30, count: 1 },
      { key: 'old', minute: 32, count: 1 },
    ]);
    t.same(tallies.map(({ count, countBefore }) => [count, countBefore]).sort(), [
      [1, 0],
      [1, 5],
    ]);
  });
}
