import t from 'tap';
import { outputTurns } from '../../src/app/output-turns.ts';

/** Timers by hand: what was set, and a clock that only `run` moves. */
function aScene(t: { teardown(then: () => void): void }) {
  const real = { setTimeout: globalThis.setTimeout, setImmediate: globalThis.setImmediate };
  t.teardown(() => Object.assign(globalThis, real));
  const waits: { ms: number; dueMs: number; then: () => void }[] = [];
  let now = 0;
  Object.assign(globalThis, {
    setTimeout: (then: () => void, ms: number) => waits.push({ ms, dueMs: now + ms, then }),
    setImmediate: (then: () => void) => waits.push({ ms: 0, dueMs: now, then }),
  });
  const turns = outputTurns(() => now);
  return {
    rest: (isMore = false, then = () => true) => turns.rest(isMore, then),
    waits,
    /** The oldest one ends, so much later than it should. */
    end(lateMs: number) {
      const oldest = waits.shift();
      now = Math.max(now, oldest?.dueMs ?? 0) + lateMs;
      oldest?.then();
    },
  };
}

t.test('one flood alone goes on at once, however late this process is', async (t) => {
  const { rest, waits, end } = aScene(t);
  for (let turn = 0; turn < 50; turn += 1) {
    rest(true);
    t.equal(waits[0]?.ms, 0);
    end(500);
  }
  rest(false);
  t.equal(waits[0]?.ms, 1);
});

t.test('several take turns in order, the further apart the later they come, up to a bound', async (t) => {
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

t.test('a turn that one can not use is the next one’s', async (t) => {
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
