import fc from 'fast-check';
import t from 'tap';
import { addressGroup, minuteOf, type RequestTally, rolled, waitMs } from '../../src/domain/rate-limit.ts';

const MINUTE = 60_000;
const tally = (count: number, countBefore = 0, minute = 100): RequestTally => ({
  minute,
  count,
  countBefore,
});
const at = (seconds: number, minute = 100): number => minute * MINUTE + seconds * 1000;

t.test('as many requests as the limit fit into a minute, and not one more', async (t) => {
  const cases: [string, RequestTally, number, number][] = [
    ['none yet', tally(0), at(0), 0],
    ['one below', tally(599), at(0), 0],
    ['full: until one of them has faded from the next minute', tally(600), at(0), 60_100],
    ['full, late in the minute', tally(600), at(59), 1_100],
    ['the minute before still counts in full at the start', tally(0, 600), at(0), 100],
    ['and half at the middle', tally(299, 600), at(30), 0],
    ['but not less', tally(300, 600), at(30), 100],
    ['over the limit, as when several processes counted', tally(1200), at(30), 30_000 + 30_050],
    ['a clock that lags behind the minute', tally(0), at(-5), 0],
  ];
  for (const [name, given, now, wait] of cases) t.equal(waitMs(given, 600, now), wait, name);
  t.equal(waitMs(tally(1), 1, at(0)), 120_000, 'a limit of one: the whole next minute is spoken for');
});

t.test('whoever waits as long as told fits, and a millisecond earlier does not', async () => {
  const cases = fc.record({
    count: fc.nat(2000),
    countBefore: fc.nat(2000),
    limit: fc.integer({ min: 1, max: 1000 }),
    into: fc.nat(MINUTE - 1),
  });
  fc.assert(
    fc.property(cases, ({ count, countBefore, limit, into }) => {
      const given = tally(count, countBefore);
      const now = at(0) + into;
      const wait = waitMs(given, limit, now);
      const after = (ms: number): number => waitMs(rolled(given, minuteOf(now + ms)), limit, now + ms);
      return wait === 0 || (after(wait) === 0 && after(wait - 1) > 0);
    }),
  );
});

t.test('a tally moves on with the minutes, and never back', async (t) => {
  t.same(rolled(tally(5, 3), 100), tally(5, 3));
  t.same(rolled(tally(5, 3), 101), tally(0, 5, 101));
  t.same(rolled(tally(5, 3), 102), tally(0, 0, 102));
  t.same(rolled(tally(5, 3), 99), tally(5, 3), 'a clock that was set back');
  t.equal(minuteOf(at(59.999)), 100);
});

t.test('an IPv4 address counts by itself, of an IPv6 address the first half', async (t) => {
  const cases: [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3::', '1:2:3:0::/64'],
  ];
  for (const [address, group] of cases) t.equal(addressGroup(address), group, address);
});
