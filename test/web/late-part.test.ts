import { mock } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { latePart } from '../../web/src/lib/late-part.ts';

const FAILURE = new Error('no such part');

/** A tab's storage and clock, and how often it was loaded anew. */
function aTab(t: { teardown(then: () => void): void }, keeps = true) {
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    sessionStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => keeps && kept.set(key, value),
    },
  });
  t.teardown(() => void Reflect.deleteProperty(globalThis, 'sessionStorage'));
  const tab = { ms: 1_000_000, reloads: 0 };
  const reload = (): void => {
    tab.reloads += 1;
  };
  return { tab, on: { nowMs: () => tab.ms, reload } };
}

/** Fails so many times, then loads. */
function aPart(failures: number) {
  const part = { asked: 0 };
  const load = async (): Promise<string> => {
    part.asked += 1;
    if (part.asked <= failures) throw FAILURE;
    return 'part';
  };
  return { part, load };
}

t.test('a part that fails once is asked for again', async (t) => {
  const { tab, on } = aTab(t);
  const { part, load } = aPart(1);
  t.equal(await latePart(load, on), 'part');
  t.same([part.asked, tab.reloads], [2, 0]);
});

t.test('one that fails for good has the page loaded anew, once in a minute', async (t) => {
  const { tab, on } = aTab(t);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const pause = async (): Promise<void> => {
    await immediate();
    mock.timers.tick(500);
    await immediate();
  };
  let end = 'waits';
  const ended = (how: string) => () => {
    end = how;
  };
  latePart(aPart(2).load, on).then(ended('loaded'), ended('failed'));
  await pause();
  t.same([end, tab.reloads], ['waits', 1]);
  tab.ms += 59_000;
  const second = latePart(aPart(2).load, on);
  await Promise.all([t.rejects(second, FAILURE), pause()]);
  t.equal(tab.reloads, 1);
});

t.test('a tab that keeps nothing is not loaded for ever', async (t) => {
  const { tab, on } = aTab(t, false);
  await t.rejects(latePart(aPart(2).load, on), FAILURE);
  t.equal(tab.reloads, 0);
});
