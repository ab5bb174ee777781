import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { engineSlots } from '../../src/adapters/engine-slots.ts';
import { RuntimeBusy, RuntimeUnavailable } from '../../src/ports/containers/container-runtime.ts';

/** Slots whose calls end on request; `begun` has those that started, in order. */
function setUp() {
  const slots = engineSlots();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => (): Promise<void> => {
    begun.push(name);
    return new Promise<void>((end) => ends.set(name, end));
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    ends.delete(name);
    await setImmediate();
  };
  return {
    slots,
    begun,
    start: (runtimeId: string, name: string) => slots.start(runtimeId, work(name)),
    change: (runtimeId: string, name: string) => slots.change({ runtimeId }, work(name)),
    end,
    /** Ends all calls in progress, and the following ones. */
    async endAll() {
      while (ends.size > 0) for (const name of [...ends.keys()]) await end(name);
    },
  };
}

t.test('starts take turns between containers and their owners', async (t) => {
  const { slots, begun, start, change, end, endAll } = setUp();
  slots.belongs('dev', 'ada');
  slots.belongs('web', 'ada');
  const all = ['a1', 'a2', 'a3'].map((name) => start('dev', name));
  await setImmediate();
  t.same(begun, ['a1', 'a2'], 'two of a container');
  all.push(start('web', 'a4'), start('web', 'a5'));
  await setImmediate();
  t.same(begun.at(-1), 'a4', 'three of a user');
  all.push(start('bobs', 'b1'));
  await setImmediate();
  t.same(begun.at(-1), 'b1', 'another user does not wait');
  t.equal(slots.waiting(), 2);
  await end('a4');
  t.same(begun.at(-1), 'a5', 'two of a container leave the third to the other one');
  all.push(change('bobs', 'stop'));
  await setImmediate();
  t.same(begun.at(-1), 'stop', 'a change waits for no start of its container');
  await endAll();
  await Promise.all(all);
  t.same(begun.length, 7);
  t.equal(slots.waiting(), 0);
});

t.test('a start beyond 64 waiting for one container is refused, and changes are not', async (t) => {
  const { slots, start, change, endAll } = setUp();
  const waits: string[] = [];
  slots.listen(({ outcome }) => waits.push(outcome));
  const all = Array.from({ length: 66 }, (_, at) => start('dev', `a${at}`));
  await t.rejects(start('dev', 'late'), new RuntimeBusy('engine_busy', 5));
  t.ok(waits.includes('engine_busy'));
  all.push(change('dev', 'stop'));
  await setImmediate();
  await endAll();
  await Promise.all(all);
  t.equal(waits.filter((outcome) => outcome === 'started').length, 67);
});

t.test('a failed call frees its slot and affects no other', async (t) => {
  const { slots, begun, start, endAll } = setUp();
  for (let count = 0; count < 9; count += 1)
    await t.rejects(
      slots.start('dev', () => Promise.reject(new Error('broken'))),
      /broken/,
    );
  const next = start('dev', 'next');
  await setImmediate();
  t.same(begun, ['next']);
  await endAll();
  await next;
});

t.test('a late start gives up its slot, and further starts in its container are refused', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { slots, begun, start, endAll } = setUp();
  slots.belongs('hung', 'ada');
  slots.belongs('fine', 'ada');
  const busy = new RuntimeBusy('container_unresponsive', 5);
  let lose = (_error: Error): void => {};
  const lost = slots.start('hung', () => new Promise((_, reject) => (lose = reject)));
  const other = start('hung', 'h2');
  const early = start('hung', 'h4');
  early.catch(() => undefined);
  const fine = ['f1', 'f2'].map((name) => start('fine', name));
  await setImmediate();
  t.same(begun, ['h2', 'f1'], 'three of a user');
  mock.timers.tick(4_999);
  t.notOk(slots.isSuspect('hung'));
  mock.timers.tick(1);
  await setImmediate();
  t.ok(slots.isSuspect('hung'));
  t.same(begun, ['h2', 'f1', 'f2'], 'its slots are free, but nothing more starts in it');
  const late = start('hung', 'h5');
  late.catch(() => undefined);
  mock.timers.tick(5_000);
  await t.rejects(late, busy, 'who comes when it is known waits for five seconds');
  t.equal(slots.waiting(), 1);
  mock.timers.tick(20_000);
  await t.rejects(early, busy, 'who came before waits as long as the engine may take');
  lose(new RuntimeUnavailable('no answer'));
  await t.rejects(lost, busy, 'a late start that is lost is the fault of its container');
  t.ok(slots.isSuspect('hung'));
  await endAll();
  await Promise.all([other, ...fine]);
  t.notOk(slots.isSuspect('hung'), 'one that has succeeded clears it');
});
