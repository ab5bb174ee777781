import t from 'tap';
import { readPace } from '../../src/app/read-pace.ts';

/** What is read of a terminal at times that the test says, and how often it has to rest. */
function aScene() {
  const stream = { destroyed: false, pause: () => stream, resume: () => stream };
  const rests: (() => boolean)[] = [];
  let nowMs = 0;
  const pace = readPace(stream as never, { rest: (_, then) => void rests.push(then) }, () => nowMs);
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

for (const { what, bytes, everyMs, isFlood } of [
  { what: 'typing', bytes: 64, everyMs: 20, isFlood: false },
  { what: 'a screen that is drawn ten times a second', bytes: 4_096, everyMs: 100, isFlood: false },
  { what: 'a hundred KiB a second', bytes: 1_024, everyMs: 10, isFlood: false },
  { what: 'a MiB a second', bytes: 4_096, everyMs: 4, isFlood: true },
]) {
  t.test(`${what} is ${isFlood ? 'a' : 'no'} flood`, async (t) => {
    const { rests, takes } = aScene();
    takes(bytes, everyMs, 1_000);
    t.equal(rests.length > 0, isFlood);
  });
}

t.test('what is held or closed when its turn comes does not use it', async (t) => {
  const { stream, pace, rests, takes } = aScene();
  const turn = (): boolean | undefined => {
    takes(65_536, 1, 1);
    return rests.shift()?.();
  };
  t.equal(turn(), true);
  pace.hold();
  t.equal(turn(), false);
  pace.letGo();
  t.equal(turn(), true);
  stream.destroyed = true;
  t.equal(turn(), false);
});
