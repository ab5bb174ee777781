import t from 'tap';
import { outputSlots } from '../../../src/app/terminals/output/output-slots.ts';
import { readScheduler } from '../../../src/app/terminals/output/read-scheduler.ts';
import { readThrottle } from '../../../src/app/terminals/output/read-throttle.ts';

/** Lets all pending work run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('one user has few slots, and another gets one at once', async (t) => {
  const { reserve: hold } = outputSlots({ slots: 4, slotsPerUser: 2 });
  const got: string[] = [];
  const ask = (user: string, name: string) => {
    const slot = hold(user);
    void slot.more().then(() => got.push(name));
    return slot;
  };
  const [first, , third] = ['a1', 'a2', 'a3', 'a4'].map((name) => ask('ada', name));
  await settled();
  t.same(got, ['a1', 'a2']);
  ask('bob', 'b1');
  await settled();
  t.same(got, ['a1', 'a2', 'b1']);
  first?.release();
  first?.release();
  await settled();
  t.same(got, ['a1', 'a2', 'b1', 'a3'], 'a slot that is free goes to the next one, once');
  third?.release();
  t.ok(third?.unwanted.aborted);
});

t.test('users take turns for output slots', async (t) => {
  const { reserve: hold } = outputSlots({ slots: 1, slotsPerUser: 1 });
  const got: string[] = [];
  const first = hold('eve');
  await first.more();
  const names = ['ada1', 'ada2', 'ada3', 'bob1', 'cyd1'];
  for (const name of names) {
    const slot = hold(name.slice(0, 3));
    void slot.more().then(() => {
      got.push(name);
      slot.release();
    });
  }
  first.release();
  while (got.length < names.length) await settled();
  t.same(got, ['ada1', 'bob1', 'cyd1', 'ada2', 'ada3']);
});

t.test('a leaving caller frees its place in the queue', async (t) => {
  const { reserve: hold } = outputSlots({ slots: 1, slotsPerUser: 1 });
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

/** Manual timers, and a clock that only `run` moves. */
function aScene(t: { teardown(then: () => void): void }) {
  const real = { setTimeout: globalThis.setTimeout, setImmediate: globalThis.setImmediate };
  t.teardown(() => Object.assign(globalThis, real));
  const waits: { ms: number; dueMs: number; then: () => void }[] = [];
  let now = 0;
  Object.assign(globalThis, {
    setTimeout: (then: () => void, ms: number) => waits.push({ ms, dueMs: now + ms, then }),
    setImmediate: (then: () => void) => waits.push({ ms: 0, dueMs: now, then }),
  });
  const turns = readScheduler(() => now);
  return {
    rest: (isMore = false, then = () => true) => turns.scheduleRead(isMore, then),
    typed: turns.typed,
    answered: turns.answered,
    waits,
    /** The oldest timer ends, later than it should by this much. */
    end(lateMs: number) {
      const oldest = waits.shift();
      now = Math.max(now, oldest?.dueMs ?? 0) + lateMs;
      oldest?.then();
    },
  };
}

t.test('a single heavy terminal is read at once, however late this process is', async (t) => {
  const { rest, waits, end } = aScene(t);
  for (let turn = 0; turn < 50; turn += 1) {
    rest(true);
    t.equal(waits[0]?.ms, 0);
    end(500);
  }
  rest(false);
  t.equal(waits[0]?.ms, 1);
});

t.test('after input, a single heavy terminal is read less often for a while', async (t) => {
  const { rest, typed, waits, end } = aScene(t);
  typed();
  rest(true);
  t.equal(waits[0]?.ms, 4);
  end(249);
  rest(true);
  t.equal(waits[0]?.ms, 0, 'as before it, once 250 ms have passed');
});

t.test('heavy output due between a key and its echo is read right after the echo', async (t) => {
  const { rest, typed, answered, waits, end } = aScene(t);
  let reads = 0;
  const due = (): void => {
    typed();
    rest(true, () => {
      reads += 1;
      return true;
    });
    end(0);
  };
  due();
  t.equal(reads, 0, 'not before it');
  answered();
  t.equal(reads, 0, 'nor before the echo was sent');
  const [limit, turn] = waits.splice(0);
  t.equal(turn?.ms, 0);
  turn?.then();
  t.equal(reads, 1);
  due();
  limit?.then();
  t.equal(reads, 1, 'an earlier limit is none of the next read');
  t.equal(waits[0]?.ms, 5);
  end(0);
  t.equal(reads, 2, 'without an echo it waits no longer');
  answered();
  t.same(waits, [], 'and nothing is left to do');
});

t.test('after input, several heavy terminals take one turn every 4 ms', async (t) => {
  const { rest, typed, answered, waits, end } = aScene(t);
  let turns = 0;
  const goesOn = (): void =>
    rest(false, () => {
      turns += 1;
      goesOn();
      return true;
    });
  // The first one is alone, and stays so here.
  rest();
  waits.shift();
  for (const flood of [goesOn, goesOn, goesOn]) flood();
  for (let timely = 0; timely < 1_000; timely += 1) end(0);
  turns = 0;
  end(0);
  t.equal(turns, 3, 'all of them in a millisecond while this process has time');
  typed();
  answered();
  end(0);
  turns = 0;
  t.equal(waits[0]?.ms, 4);
  end(0);
  t.equal(turns, 1);
});

t.test('several take turns in order, further apart the later they come, up to a limit', async (t) => {
  const { rest, waits, end } = aScene(t);
  const turns: number[] = [];
  const goesOn = (flood: number): void =>
    rest(false, () => {
      turns.push(flood);
      goesOn(flood);
      return true;
    });
  // The first one is alone, and stays so here.
  rest();
  waits.shift();
  for (const flood of [1, 2, 3, 4, 5]) goesOn(flood);
  const turn = (lateMs: number): number => {
    t.equal(waits.length, 1, 'one timer for all of them');
    const [next] = waits;
    end(lateMs);
    return next?.ms ?? 0;
  };
  const late = Array.from({ length: 20 }, () => turn(20));
  t.same(turns.slice(0, 6), [1, 2, 3, 4, 5, 1]);
  t.same(
    late,
    late.toSorted((one, other) => one - other),
  );
  t.equal(late.at(-1), 25);
  const inTime = Array.from({ length: 1_000 }, () => turn(0));
  t.equal(inTime.at(-1), 1, 'as short as a timer can be');
  const before = turns.length;
  turn(0);
  t.equal(turns.length - before, 4, 'and several in one');
});

t.test('an unused turn passes to the next', async (t) => {
  const { rest, waits, end } = aScene(t);
  const turns: string[] = [];
  rest();
  waits.shift();
  const asks = (name: string, reads: boolean): void =>
    rest(false, () => {
      turns.push(name);
      return reads;
    });
  asks('closed', false);
  asks('held', false);
  asks('reads', true);
  asks('later', true);
  end(20);
  t.same(turns, ['closed', 'held', 'reads']);
  end(20);
  t.same(turns.slice(3), ['later']);
  t.same(waits, [], 'and nothing is waited for any more');
});

/** The reads of a terminal at given times, and how often it pauses. */
function aPacedStream() {
  const stream = { destroyed: false, pause: () => stream, resume: () => stream };
  const rests: (() => boolean)[] = [];
  let nowMs = 0;
  const pace = readThrottle(
    stream as never,
    { scheduleRead: (_, then) => void rests.push(then), typed: () => {}, answered: () => {} },
    () => nowMs,
  );
  return {
    stream,
    pace,
    rests,
    takes(bytes: number, everyMs: number, times: number) {
      for (let at = 0; at < times; at += 1) {
        nowMs += everyMs;
        pace.took(bytes);
      }
    },
  };
}

t.test('sustained output counts as heavy', async (t) => {
  const cases: readonly (readonly [what: string, bytes: number, everyMs: number, isFlood: boolean])[] = [
    ['typing', 64, 20, false],
    ['a screen that is drawn ten times a second', 4_096, 100, false],
    ['a hundred KiB a second', 1_024, 10, false],
    ['a MiB a second', 4_096, 4, true],
  ];
  for (const [what, bytes, everyMs, isFlood] of cases) {
    const { rests, takes } = aPacedStream();
    takes(bytes, everyMs, 1_000);
    t.equal(rests.length > 0, isFlood, what);
  }
});

t.test('a paused or closed stream does not use its turn', async (t) => {
  const { stream, pace, rests, takes } = aPacedStream();
  const turn = (): boolean | undefined => {
    takes(65_536, 1, 1);
    return rests.shift()?.();
  };
  t.equal(turn(), true);
  pace.pause();
  t.equal(turn(), false);
  pace.resume();
  t.equal(turn(), true);
  stream.destroyed = true;
  t.equal(turn(), false);
});
