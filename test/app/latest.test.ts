import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { latest } from '../../src/app/latest.ts';

t.test('what comes while the work goes on is done once, for the newest', async (t) => {
  const done: number[] = [];
  const work = latest(async (value: number) => {
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

t.test('work that fails is not the end of it', async (t) => {
  const done: number[] = [];
  const work = latest(async (value: number) => {
    if (value < 0) throw new Error('no');
    done.push(value);
  });
  await t.rejects(work(-1));
  await work(1);
  t.same(done, [1]);
});
