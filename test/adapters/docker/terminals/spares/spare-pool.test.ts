import t, { type Test } from 'tap';
import { sparePool } from '../../../../../src/adapters/scripts/terminals/spares/spare-pool.ts';
import { standingTime } from '../../../../support/time.ts';

type Spare = { readonly of: string; beats: number; isEnded: boolean; fail(): void };

/** A pool whose spares start when the test says so, in time that stands still. */
function aPool(t: Test) {
  const time = standingTime(t);
  const spares: Spare[] = [];
  const starts: { readonly of: string; start(): Promise<void>; fail(): Promise<void> }[] = [];
  let isIdle = true;
  const pool = sparePool<Spare>({
    start: (of) => {
      const { promise, resolve, reject } = Promise.withResolvers<Spare>();
      const settled = () =>
        promise
          .then(
            () => {},
            () => {},
          )
          .then(nextTurn);
      starts.push({
        of,
        start: () => {
          const spare: Spare = { of, beats: 0, isEnded: false, fail: () => {} };
          spares.push(spare);
          resolve(spare);
          return settled();
        },
        fail: () => {
          reject(new Error('no spare'));
          return settled();
        },
      });
      return promise;
    },
    keepAlive: (spare) => {
      spare.beats += 1;
    },
    end: (spare) => {
      spare.isEnded = true;
    },
    whenUseless: (spare, done) => {
      spare.fail = done;
    },
    isIdle: () => isIdle,
    monotonicMs: time.nowMs,
  });
  const opened = (runtimeId: string, ownerId = 'ada') => pool.noteOpened({ runtimeId, ownerId });
  return {
    pool,
    time,
    spares,
    starts,
    opened,
    /** Opens terminals until so many spares wait there. */
    async fill(runtimeId: string, count: number, ownerId = 'ada') {
      for (let n = 0; n < count; n += 1) opened(runtimeId, ownerId);
      while (starts.length > 0) await starts.shift()?.start();
    },
    waiting: (of: string) => spares.filter((spare) => spare.of === of && !spare.isEnded).length,
    busy: () => {
      isIdle = false;
    },
  };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test('as many spares wait as terminals were opened in the last minute, at most four', async (t) => {
  const { fill, waiting, time, pool, opened, starts } = aPool(t);
  await fill('box', 1);
  t.equal(waiting('box'), 1);
  await fill('box', 1);
  t.equal(waiting('box'), 2);
  await fill('box', 5);
  t.equal(waiting('box'), 4);
  time.pass(60_000);
  for (let n = 0; n < 4; n += 1) t.ok(pool.take('box'));
  t.equal(pool.take('box'), null);
  opened('box');
  await starts.shift()?.start();
  t.same(starts, [], 'earlier openings do not count');
});

t.test('a spare is of one container, and is taken once', async (t) => {
  const { fill, pool, spares } = aPool(t);
  await fill('box', 1);
  t.equal(pool.take('other'), null);
  t.equal(pool.take('box'), spares[0]);
  t.equal(pool.take('box'), null);
});

t.test('spares start one at a time, and only while the engine is idle', async (t) => {
  const { opened, starts, busy } = aPool(t);
  opened('one');
  opened('two');
  t.same(
    starts.map(({ of }) => of),
    ['one'],
  );
  await starts.shift()?.start();
  t.same(
    starts.map(({ of }) => of),
    ['two'],
  );
  busy();
  opened('three');
  await starts.shift()?.start();
  t.same(starts, []);
});

t.test('the oldest spare ends where an owner has four, or the process 32', async (t) => {
  const { fill, waiting } = aPool(t);
  await fill('first', 4, 'ada');
  await fill('second', 1, 'ada');
  t.same([waiting('first'), waiting('second')], [3, 1]);
  for (let n = 0; n < 28; n += 1) await fill(`box-${n}`, 1, `user-${n}`);
  t.same([waiting('first'), waiting('second')], [3, 1], 'all 32 wait');
  await fill('last', 1, 'zoe');
  t.same([waiting('first'), waiting('last')], [2, 1]);
});

t.test('a spare is kept alive, and ends after ten minutes without use', async (t) => {
  const { fill, spares, time, pool } = aPool(t);
  await fill('box', 1);
  time.pass(25_000);
  t.equal(spares[0]?.beats, 3);
  time.pass(600_000);
  t.ok(spares[0]?.isEnded);
  t.equal(pool.take('box'), null);
  const beats = spares[0]?.beats;
  time.pass(60_000);
  t.equal(spares[0]?.beats, beats, 'and nothing more is sent to it');
});

t.test('a spare that cannot be used any more is ended and not given to anybody', async (t) => {
  const { fill, spares, pool } = aPool(t);
  await fill('box', 1);
  spares[0]?.fail();
  t.equal(pool.take('box'), null);
  t.ok(spares[0]?.isEnded);
});

t.test('a container that cannot run a spare is not asked for a minute', async (t) => {
  const { opened, starts, time } = aPool(t);
  opened('box');
  await starts.shift()?.fail();
  opened('box');
  t.same(starts, []);
  time.pass(60_000);
  opened('box');
  t.equal(starts.length, 1);
});

t.test('a container out of processes loses its spares, also one that starts', async (t) => {
  const { fill, opened, starts, spares, pool, waiting, time } = aPool(t);
  await fill('box', 2);
  pool.take('box');
  opened('box');
  pool.release('box');
  await starts.shift()?.start();
  t.equal(waiting('box'), 1, 'only the one that was taken');
  t.notOk(spares[0]?.isEnded);
  time.pass(59_000);
  opened('box');
  t.same(starts, [], 'and none starts for a minute');
});
