import t from 'tap';
import { tooManyKept } from '../../../src/domain/terminals/kept-terminals.ts';

t.test("of a user's kept terminals the oldest are too many, by their count or their output", (t) => {
  const most = { terminals: 3, bytes: 100 };
  const kept = (userId: string, untilMs: number, bytes: number) => ({ userId, untilMs, bytes });
  const times = (...all: ReturnType<typeof kept>[]) => tooManyKept(all, most).map(({ untilMs }) => untilMs);
  t.same(times(kept('a', 1, 0), kept('a', 3, 0), kept('a', 2, 0)), []);
  t.same(times(kept('a', 1, 0), kept('a', 4, 0), kept('a', 3, 0), kept('a', 2, 0)), [1]);
  t.same(times(kept('a', 1, 1), kept('a', 2, 50), kept('a', 3, 50)), [1]);
  t.same(times(kept('a', 1, 60), kept('a', 2, 60), kept('b', 3, 60)), [1], "another user's do not count");
  t.end();
});
