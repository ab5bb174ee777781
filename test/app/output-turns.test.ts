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
    rest: (isMore = false) => turns.rest(isMore, () => {}),
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

t.test(
  'several rest longer while turns come late, up to a bound, and shorter again after that',
  async (t) => {
    const { rest, waits, end } = aScene(t);
    rest();
    const newest = (): number => waits.at(-1)?.ms ?? 0;
    const turn = (lateMs: number): number => {
      rest(true);
      end(lateMs);
      return newest();
    };
    t.equal(turn(0), 1);
    const late = Array.from({ length: 30 }, () => turn(20));
    t.ok(late.every((ms, at) => at === 0 || ms >= (late[at - 1] ?? 0)));
    t.equal(newest(), 100);
    for (let more = 0; more < 400; more += 1) turn(1);
    t.equal(newest(), 1);
  },
);
