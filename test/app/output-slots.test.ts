import t from 'tap';
import { outputSlots } from '../../src/app/output-slots.ts';

/** Lets everything run that can. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('one user has few slots, and another gets one at once', async (t) => {
  const { hold } = outputSlots({ slots: 4, slotsPerUser: 2 });
  const got: string[] = [];
  const ask = (user: string, name: string) => {
    const held = hold(user);
    void held.more().then(() => got.push(name));
    return held;
  };
  const [first, , third] = [ask('ada', 'a1'), ask('ada', 'a2'), ask('ada', 'a3')];
  await settled();
  t.same(got, ['a1', 'a2']);
  ask('bob', 'b1');
  await settled();
  t.same(got, ['a1', 'a2', 'b1']);
  first.release();
  first.release();
  await settled();
  t.same(got, ['a1', 'a2', 'b1', 'a3'], 'a slot that is free goes to the next one, once');
  third.release();
  t.ok(third.unwanted.aborted);
});

t.test('users take turns', async (t) => {
  const { hold } = outputSlots({ slots: 1, slotsPerUser: 1 });
  const got: string[] = [];
  const first = hold('eve');
  await first.more();
  const names = ['ada1', 'ada2', 'ada3', 'bob1', 'cyd1'];
  for (const name of names) {
    const held = hold(name.slice(0, 3));
    void held.more().then(() => {
      got.push(name);
      held.release();
    });
  }
  first.release();
  while (got.length < names.length) await settled();
  t.same(got, ['ada1', 'bob1', 'cyd1', 'ada2', 'ada3']);
});

t.test('who leaves while waiting takes no slot', async (t) => {
  const { hold } = outputSlots({ slots: 1, slotsPerUser: 1 });
  const [first, second, third] = [hold('ada'), hold('bob'), hold('cyd')];
  await first.more();
  const waits = second.more();
  second.release();
  await waits;
  first.release();
  await third.more();
  await third.more();
  third.release();
  const last = hold('dan');
  await last.more();
  last.release();
  await last.more();
  t.pass('every slot came back');
});
