import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Bus, BusMessage } from '../../src/ports/bus.ts';
import { waitFor } from '../support/patience.ts';

/** Two processes on one bus, of which `there` can be cut off until `restore`. */
export type BusPair = {
  readonly here: Bus;
  readonly there: Bus;
  cut(): Promise<void>;
  restore(): Promise<void>;
};

/** The messages of a process on a topic, in order; `gap` stands for a call of onGap. */
function heard(bus: Bus, topic: string) {
  const log: (BusMessage | 'gap')[] = [];
  const stop = bus.subscribe(
    topic,
    (message) => log.push(message),
    () => log.push('gap'),
  );
  return { log, stop };
}

/** A bus with its own topics, so that tests do not hear each other. */
const withOwnTopics = (bus: Bus, prefix: string): Bus => ({
  ...bus,
  get connected() {
    return bus.connected;
  },
  publish: (topic, message) => bus.publish(`${prefix}${topic}`, message),
  subscribe: (topic, ...listeners) => bus.subscribe(`${prefix}${topic}`, ...listeners),
});

/** Guarantees of every bus. */
export function busContract(t: Test, open: (t: Test) => Promise<BusPair | null>): void {
  let tests = 0;
  const on = (name: string, work: (t: Test, pair: BusPair) => Promise<void>) => {
    tests += 1;
    const prefix = `${tests}-`;
    t.test(name, async (t) => {
      const pair = await open(t);
      if (pair === null) return;
      const [here, there] = [withOwnTopics(pair.here, prefix), withOwnTopics(pair.there, prefix)];
      await work(t, { ...pair, here, there });
    });
  };

  on('a message reaches its own process at once, and the others in order and once', async (t, pair) => {
    const [here, there] = [heard(pair.here, 'a'), heard(pair.there, 'a')];
    for (const n of [1, 2, 3]) pair.here.publish('a', { n, text: 'é', yes: true, none: null });
    t.same(
      here.log.map((one) => one !== 'gap' && one['n']),
      [1, 2, 3],
      'before publish returned',
    );
    await waitFor(() => there.log.length === 3, { what: 'arrives' });
    t.same(there.log, here.log, 'as it was sent');
    pair.there.publish('a', { n: 4 });
    await waitFor(() => here.log.length > 3);
    t.same(here.log.slice(3), [{ n: 4 }], 'nobody hears its own words twice: they would have come before');
  });

  on('topics are apart, and who has unsubscribed hears nothing more', async (t, pair) => {
    const [a, b] = [heard(pair.there, 'a'), heard(pair.there, 'b')];
    pair.here.publish('a', { n: 1 });
    await waitFor(() => a.log.length === 1);
    a.stop();
    pair.here.publish('a', { n: 2 });
    pair.here.publish('b', { n: 3 });
    await waitFor(() => b.log.length === 1);
    t.same([a.log, b.log], [[{ n: 1 }], [{ n: 3 }]]);
  });

  on('many messages at once all arrive', async (t, pair) => {
    const { log } = heard(pair.there, 'a');
    for (let n = 0; n < 2_000; n += 1) pair.here.publish('a', { n });
    await waitFor(() => log.length === 2_000);
    t.same(
      log.map((one) => one !== 'gap' && one['n']),
      Array.from({ length: 2_000 }, (_, n) => n),
    );
  });

  on('a message that is too large is refused, and nobody hears of it', async (t, pair) => {
    const { log } = heard(pair.here, 'a');
    t.throws(() => pair.here.publish('a', { text: 'x'.repeat(8_000) }), RangeError);
    t.throws(() => pair.here.publish('a', { text: '😀'.repeat(2_000) }), RangeError, 'bytes are counted');
    t.same(log, []);
    pair.here.publish('a', { text: 'x'.repeat(6_500) });
    t.equal(log.length, 1);
  });

  on('a process that was cut off is notified of the gap before it receives anything new', async (t, pair) => {
    t.ok(pair.there.connected);
    const { log } = heard(pair.there, 'a');
    await pair.cut();
    await waitFor(() => !pair.there.connected, { what: 'it says so' });
    pair.here.publish('a', { n: 'missed' });
    // A pause between attempts to reconnect.
    await delay(50);
    t.notOk(pair.there.connected, 'still');
    await pair.restore();
    await waitFor(() => pair.there.connected, { what: 'comes back by itself' });
    pair.here.publish('a', { n: 'after' });
    const isNew = (one: BusMessage | 'gap' | undefined) => one !== 'gap' && one?.['n'] === 'after';
    await waitFor(() => isNew(log.at(-1)), { what: () => `it hears something new: ${JSON.stringify(log)}` });
    // A slow sender's message may come late: it is missed only if it was sent before the line was back.
    t.equal(log[0], 'gap');
  });

  on('what was said while cut off arrives afterwards', async (t, pair) => {
    const { log } = heard(pair.here, 'a');
    await pair.cut();
    await waitFor(() => !pair.there.connected);
    pair.there.publish('a', { n: 1 });
    pair.there.publish('a', { n: 2 });
    await pair.restore();
    await waitFor(() => log.length === 2);
    t.same(log, [{ n: 1 }, { n: 2 }]);
  });
}
