import t from 'tap';
import { fairTurns, slotQueue } from '../../src/concurrency/slot-queue.ts';
import { standingTime } from '../support/time.ts';

/** Lets all pending work run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const request = (id: string) => ({ id, resourceId: id, userId: id });

t.test('a request waits for its slot until it times out or is withdrawn', async (t) => {
  const time = standingTime(t);
  const queue = slotQueue({ total: 1, perContainer: 1, perUser: 1 });
  t.equal(queue.enter(request('first')), true, 'a free slot is given at once');
  const withdrawn = new AbortController();
  const { signal } = withdrawn;
  const next = queue.enter(request('next'));
  const late = queue.enter(request('late'), { ms: 10 });
  const gone = queue.enter(request('gone'), { signal });
  time.pass(10);
  t.equal(await late, false);
  withdrawn.abort();
  t.equal(await gone, false);
  t.equal(queue.enter(request('gone before'), { signal }), false);
  t.same(
    queue.now().waiting.map(({ id }) => id),
    ['next'],
  );
  queue.leave('first');
  t.equal(await next, true);
  const refused = queue.enter(request('refused'));
  queue.refuseWaiting();
  t.equal(await refused, false);
  t.same([queue.now().waiting.length, queue.now().underway.length], [0, 1]);
});

/** Work that ends on request; `order` has what has started. */
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
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { ask, end, order };
}

t.test('work of one key runs one piece at a time, and keys take turns', async (t) => {
  const { ask, end, order } = scene(2);
  for (const n of [1, 2, 3]) void ask('a', `a${n}`);
  await settled();
  t.same(order, ['a1'], 'the second slot stays free');
  for (const name of ['b1', 'b2']) void ask('b', name);
  void ask('c', 'c1');
  await settled();
  t.same(order, ['a1', 'b1']);
  await end('a1');
  t.same(order, ['a1', 'b1', 'c1'], 'b runs already, and c came before the rest of a');
  await end('c1');
  await end('b1');
  await end('a2');
  t.same(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

t.test('too much work of one key is refused, and a failure frees the slot', async (t) => {
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
