import t from 'tap';
import { fairTurns } from '../../src/app/fair-turns.ts';

/** Work that ends when the test says so; `order` has what has begun. */
function scene(maxRunning: number, maxWaiting = 100) {
  const turns = fairTurns({ maxRunning, maxWaiting });
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (key: string, name: string) =>
    turns.run(key, () => {
      order.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      return promise;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    ends.get(name)?.();
    await settle();
  };
  return { ask, end, order, settle };
}

t.test('one piece of work of a key runs at a time, and keys take turns', async (t) => {
  const { ask, end, order, settle } = scene(2);
  for (const n of [1, 2, 3]) ask('a', `a${n}`);
  await settle();
  t.same(order, ['a1'], 'the second slot stays free');
  for (const name of ['b1', 'b2']) ask('b', name);
  ask('c', 'c1');
  await settle();
  t.same(order, ['a1', 'b1']);
  await end('a1');
  t.same(order, ['a1', 'b1', 'c1'], 'b runs already, and c came before the rest of a');
  await end('c1');
  await end('b1');
  await end('a2');
  t.same(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

t.test('what is too much of one key is not taken, and a fault does not keep the slot', async (t) => {
  const turns = fairTurns({ maxRunning: 1, maxWaiting: 1 });
  const fault = turns.run('a', async () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 'done');
  t.equal(
    turns.run('a', async () => 'never'),
    null,
  );
  t.equal(await turns.run('b', async () => 'b'), 'b');
  await t.rejects(fault ?? Promise.resolve(), /no/);
  t.equal(await next, 'done');
});
