import fc from 'fast-check';
import t from 'tap';
import { BURST_BYTES, fullRate, restMs, takeTokens } from '../../src/domain/input-rate.ts';

const MIB = 1_048_576;

t.test('a paste goes through at once, and more than that is read at a mebibyte a second', async (t) => {
  const cases: readonly [name: string, comes: readonly [atMs: number, bytes: number][], rest: number][] = [
    ['nothing', [], 0],
    ['a paste of a mebibyte', [[0, MIB]], 0],
    [
      'two of them',
      [
        [0, MIB],
        [0, MIB],
      ],
      0,
    ],
    [
      'three',
      [
        [0, MIB],
        [0, MIB],
        [0, MIB],
      ],
      1_000,
    ],
    [
      'three within two seconds',
      [
        [0, MIB],
        [1_000, MIB],
        [2_000, MIB],
      ],
      0,
    ],
    [
      'half a second later half of it',
      [
        [0, 3 * MIB],
        [500, 0],
      ],
      500,
    ],
    [
      'a long silence saves nothing up',
      [
        [1e9, 2 * MIB],
        [1e9, MIB],
      ],
      1_000,
    ],
    [
      'a clock that goes back',
      [
        [1_000, 2 * MIB],
        [0, 0],
      ],
      0,
    ],
  ];
  for (const [name, comes, rest] of cases) {
    const rate = comes.reduce((so, [atMs, bytes]) => takeTokens(so, bytes, atMs), fullRate(0));
    t.equal(restMs(rate), rest, name);
  }
});

t.test('whatever comes, no more than the burst and a mebibyte a second is taken', async (t) => {
  const frames = fc.array(fc.tuple(fc.nat(3_000), fc.nat(MIB)), { maxLength: 50 });
  fc.assert(
    fc.property(frames, (comes) => {
      let rate = fullRate(0);
      let nowMs = 0;
      let taken = 0;
      for (const [pauseMs, bytes] of comes) {
        nowMs += Math.max(pauseMs, restMs(rate));
        // What is taken is at most one frame ahead of what is allowed.
        if (taken > BURST_BYTES + (nowMs * MIB) / 1_000 + 1) return false;
        rate = takeTokens(rate, bytes, nowMs);
        taken += bytes;
      }
      return taken <= BURST_BYTES + (nowMs * MIB) / 1_000 + MIB + 1;
    }),
  );
  t.pass();
});
