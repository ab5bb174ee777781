import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import t from 'tap';
import {
  coalesced,
  coalescedByKey,
  eachOnce,
  latestOnly,
  throttled,
} from '../../src/concurrency/coalesce.ts';
import { poll, pollUntil } from '../../src/concurrency/poll.ts';
import { forEachAtMost } from '../../src/concurrency/pool.ts';
import { repeat } from '../../src/concurrency/repeat.ts';
import { eachWithin, unlessAborted, within } from '../../src/concurrency/timeout.ts';
import { standingTime } from '../support/time.ts';

t.test('calls during a run share the next one', async (t) => {
  const runs: ((value: string | Error) => void)[] = [];
  const run = coalesced(() => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    runs.push((value) => (value instanceof Error ? reject(value) : resolve(value)));
    return promise;
  });
  const first = run();
  const [second, third] = [run(), run()];
  t.equal(runs.length, 1);
  runs[0]?.(new Error('no'));
  await t.rejects(first, { message: 'no' });
  await turn();
  t.equal(runs.length, 2, 'also after a run that failed');
  runs[1]?.('second');
  t.same(await Promise.all([second, third]), ['second', 'second']);
  const last = run();
  runs[2]?.('last');
  t.equal(await last, 'last');
});

t.test('each key has a run and a next one of its own', async (t) => {
  const runs: { readonly key: string; end(value: string): void }[] = [];
  const read = coalescedByKey((key) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    runs.push({ key, end: resolve });
    return promise;
  });
  const [first, second, third, other] = [read('a'), read('a'), read('a'), read('b')];
  t.same(
    runs.map(({ key }) => key),
    ['a', 'b'],
  );
  runs[0]?.end('old');
  t.equal(await first, 'old');
  await turn();
  runs[2]?.end('new');
  t.same(await Promise.all([second, third]), ['new', 'new'], 'the next run starts after their calls');
  runs[1]?.end('of b');
  t.equal(await other, 'of b');
  const later = read('a');
  t.equal(runs.length, 4, 'nothing is kept from earlier runs');
  runs[3]?.end('later');
  t.equal(await later, 'later');
});

t.test('calls within the delay share one late run, unless it is cancelled', (t) => {
  const time = standingTime(t);
  let runs = 0;
  const work = throttled(200, () => {
    runs += 1;
  });
  work.call();
  time.pass(199);
  work.call();
  t.equal(runs, 0);
  time.pass(1);
  t.equal(runs, 1);
  work.call();
  work.cancel();
  time.pass(200);
  t.equal(runs, 1);
  work.call();
  time.pass(200);
  t.equal(runs, 2, 'also after a cancelled one');
  t.end();
});

t.test('work is limited to its time', async (t) => {
  const time = standingTime(t);
  t.equal(await within(10, Promise.resolve('done'), 'late'), 'done');
  await t.rejects(within(10, Promise.reject(new Error('no')), 'late'), { message: 'no' });
  const slow = Promise.withResolvers<string>();
  const outcome = within(10, slow.promise, 'late');
  time.pass(10);
  t.equal(await outcome, 'late');
  slow.reject(new Error('too late to matter'));
  await turn();
});

t.test('slow work continues in the background until it ends', async (t) => {
  const time = standingTime(t);
  const begun: string[] = [];
  const slow = Promise.withResolvers<void>();
  const work = eachWithin(10, String, async (item: string) => {
    begun.push(item);
    if (item === 'slow') await slow.promise;
  });
  const first = work('slow');
  time.pass(10);
  await first;
  await Promise.all([work('slow'), work('fast')]);
  t.same(begun, ['slow', 'fast'], 'its item is skipped meanwhile');
  let isIdle = false;
  const idle = work.idle().then(() => {
    isIdle = true;
  });
  await turn();
  t.notOk(isIdle);
  slow.reject(new Error('too late to matter'));
  await idle;
  await work('slow').catch(() => {});
  t.same(begun, ['slow', 'fast', 'slow']);
});

t.test('a check repeats until it succeeds or times out', async (t) => {
  let checks = 0;
  const third = async (): Promise<number | null> => {
    checks += 1;
    return checks < 3 ? null : checks;
  };
  t.equal(await poll(third, { withinMs: 60_000, everyMs: 1 }), 3);
  t.equal(await poll(async () => null, { withinMs: 0 }), null);
  t.equal(await pollUntil(async () => true, { withinMs: -1 }), true, 'it is checked at least once');
  t.equal(await pollUntil(async () => false, { withinMs: 2, everyMs: 1 }), false);
});

t.test('all items are processed, only so many at a time', async (t) => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = forEachAtMost(2, [1, 2, 3], (item) => {
    begun.push(item);
    return new Promise<void>((resolve) => void ends.push(resolve));
  });
  t.same(begun, [1, 2]);
  ends[1]?.();
  await turn();
  t.same(begun, [1, 2, 3]);
  for (const end of ends) end();
  await all;
  await t.rejects(
    forEachAtMost(2, [1], async () => Promise.reject(new Error('no'))),
    { message: 'no' },
  );
});

t.test('requests during the work cause one more run, for the newest', async (t) => {
  const done: number[] = [];
  const work = latestOnly(async (value: number) => {
    done.push(value);
    await turn();
  });
  const all = [1, 2, 3, 4].map((value) => work(value));
  t.same(done, [1], 'the first begins at once');
  await Promise.all(all);
  t.same(done, [1, 4]);
  await work(5);
  t.same(done, [1, 4, 5]);
});

t.test('values are worked on in order, and one that waits already is not queued again', async (t) => {
  const done: string[] = [];
  const work = eachOnce(async (value: string) => {
    done.push(value);
    await turn();
    if (value === 'a') throw new Error('no');
  });
  const all = ['a', 'b', 'a', 'b', 'c'].map((value) => work(value));
  t.match(await Promise.allSettled(all), [
    ...['rejected', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'].map((status) => ({ status })),
  ]);
  t.same(done, ['a', 'b', 'c']);
  await work('b');
  t.same(done, ['a', 'b', 'c', 'b']);
});

t.test('failing work does not end the schedule', async (t) => {
  const done: number[] = [];
  const work = latestOnly(async (value: number) => {
    if (value < 0) throw new Error('no');
    done.push(value);
  });
  await t.rejects(work(-1));
  await work(1);
  t.same(done, [1]);
});

t.test('work without a signal is abandoned at the abort, and may fail later', async (t) => {
  const stopping = new AbortController();
  const work = Promise.withResolvers<string>();
  const waited = unlessAborted(stopping.signal, work.promise);
  stopping.abort();
  await t.rejects(waited, { name: 'AbortError' });
  work.reject(new Error('too late'));
  await t.rejects(unlessAborted(stopping.signal, Promise.withResolvers().promise), { name: 'AbortError' });
  const { signal } = new AbortController();
  t.equal(await unlessAborted(signal, Promise.resolve('done')), 'done');
  await t.rejects(unlessAborted(signal, Promise.reject(new Error('no'))), { message: 'no' });
});

t.test('a pass starts a fixed time after the last one ended, failed or not, until stopped', async (t) => {
  const time = standingTime(t);
  let passes = 0;
  const log = pino({ level: 'silent' });
  const stop = repeat(
    1_000,
    async () => {
      passes += 1;
      throw new Error('no');
    },
    log,
    100,
  );
  const seen: number[] = [];
  for (const ms of [100, 900, 100, 1_000, 1_000]) {
    time.pass(ms);
    await turn();
    seen.push(passes);
  }
  t.same(seen, [1, 1, 2, 3, 4]);
  await stop();
  time.pass(10_000);
  await turn();
  t.equal(passes, 4);
});
