import type { Test } from 'tap';
import { atOnce, hashOf, type OpenStorage, on } from '../support/storage.ts';

export function throttleContract(t: Test, open: OpenStorage): void {
  const test = on(t, open);
  const [a, b] = [hashOf('a'), hashOf('b')];

  test('tallies come in the order of their keys, and are forgotten', async (t, { throttle }) => {
    const at = new Date(Date.now() - 1_000);
    t.match(await throttle.read([a, b]), { tallies: [null, null], now: Date });
    await throttle.put([{ key: b, tally: { count: 2.5, at } }]);
    t.same((await throttle.read([a, b])).tallies, [null, { count: 2.5, at }]);
    t.same((await throttle.read([b, a])).tallies, [{ count: 2.5, at }, null]);
    await throttle.forget([a, b]);
    t.same((await throttle.read([a, b])).tallies, [null, null]);
  });

  test('locked, none of the failures at the same time is lost, in whatever order the keys are asked for', async (t, {
    throttle,
  }, storage) => {
    await atOnce(storage, 24, async (tx, n) => {
      const keys = n % 2 === 0 ? [a, b] : [b, a];
      const { tallies, now } = await tx.throttle.lock(keys);
      const put = keys.map((key, at) => ({ key, tally: { count: (tallies[at]?.count ?? 0) + 1, at: now } }));
      await tx.throttle.put(put);
    });
    const { tallies } = await throttle.read([a, b]);
    t.same(
      tallies.map((tally) => tally?.count),
      [24, 24],
    );
  });

  test('those that wait while a success forgets the failures come one after the other all the same', async (t, {
    throttle,
  }, storage) => {
    await throttle.put([{ key: a, tally: { count: 3, at: new Date() } }]);
    const locked = Promise.withResolvers<void>();
    const success = storage.inTransaction(async (tx) => {
      await tx.throttle.lock([a]);
      locked.resolve();
      await storage.blocked?.(8);
      await tx.throttle.forget([a]);
    });
    await locked.promise;
    const failures = atOnce(storage, 8, async (tx) => {
      const { tallies, now } = await tx.throttle.lock([a]);
      // A turn, in which another could read the same count.
      await tx.throttle.read([a]);
      await tx.throttle.put([{ key: a, tally: { count: (tallies[0]?.count ?? 0) + 1, at: now } }]);
    });
    await Promise.all([success, failures]);
    const { tallies } = await throttle.read([a]);
    t.equal(tallies[0]?.count, 8);
  });
}
