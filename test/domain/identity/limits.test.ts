import fc from 'fast-check';
import t from 'tap';
import {
  ACCOUNT_LIMIT,
  ADDRESS_LIMIT,
  afterFailedSignIn,
  clientNetworkOf,
  guessWaitMs,
  type Limit,
  type SignInTallies,
  signInWaitMs,
  type Tally,
  TRUSTED_ONLY_FROM,
  withFailure,
} from '../../../src/domain/identity/login-throttle.ts';
import {
  addressGroup,
  minuteOf,
  type RequestTally,
  rolled,
  waitMs,
} from '../../../src/domain/identity/request-rate.ts';
import { DEFAULT_USE_LIMITS, limitOf } from '../../../src/domain/identity/use-limits.ts';
import {
  BURST_BYTES,
  fullRate,
  restMs,
  takeTokens,
} from '../../../src/domain/terminals/socket-input-rate.ts';
import { valuesOf } from '../../support/values.ts';

const MINUTE = 60_000;
const tally = (count: number, countBefore = 0, minute = 100): RequestTally => {
  return { minute, count, countBefore };
};
const at = (seconds: number, minute = 100): number => minute * MINUTE + seconds * 1000;

t.test("a minute has room for exactly the limit's requests", async (t) => {
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

t.test('a request after the announced wait fits, and a millisecond earlier does not', async () => {
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

t.test('a tally moves with the minutes, and never back', async (t) => {
  t.same(rolled(tally(5, 3), 100), tally(5, 3));
  t.same(rolled(tally(5, 3), 101), tally(0, 5, 101));
  t.same(rolled(tally(5, 3), 102), tally(0, 0, 102));
  t.same(rolled(tally(5, 3), 99), tally(5, 3), 'a clock that was set back');
  t.equal(minuteOf(at(59.999)), 100);
});

const date = (ms: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + ms);
const HOUR_MS = 3_600_000;
const none: SignInTallies = { account: null, pair: null, address: null, network: null };
const counted = (count: number, ms = 0): Tally => ({ count, at: date(ms) });

/** The number of failures allowed in this time. */
function guesses(limit: Limit, forMs: number): number {
  let tally: Tally | null = null;
  let done = 0;
  for (let now = 0; now <= forMs; ) {
    const wait = guessWaitMs(limit, tally, date(now));
    if (wait > 0) now += wait;
    else {
      tally = withFailure(limit, tally, date(now));
      done += 1;
    }
  }
  return done;
}

t.test('a delay begins after the free failures and doubles up to an hour', async (t) => {
  const waits = [1, 4, 5, 6, 7, 16, 17, 18, 100].map((count) =>
    guessWaitMs(ACCOUNT_LIMIT, counted(count), date(0)),
  );
  t.same(waits, [0, 0, 1_000, 2_000, 4_000, 2_048_000, HOUR_MS, HOUR_MS, HOUR_MS]);
  t.equal(guessWaitMs(ACCOUNT_LIMIT, counted(5), date(400)), 600, 'what has passed counts');
  t.equal(guessWaitMs(ACCOUNT_LIMIT, counted(5), date(1_000)), 0);
  t.equal(
    guessWaitMs(ACCOUNT_LIMIT, counted(50), date(24 * HOUR_MS + 1)),
    0,
    'a day without failures ends it',
  );
  t.same(withFailure(ACCOUNT_LIMIT, counted(50), date(24 * HOUR_MS + 1)).count, 1);
});

t.test('constant guessing gets a limited number of tries', async (t) => {
  t.ok(guesses(ACCOUNT_LIMIT, HOUR_MS) <= 17, 'of an account in an hour');
  t.ok(guesses(ACCOUNT_LIMIT, 24 * HOUR_MS) <= 41, 'and in a day');
  t.ok(guesses(ADDRESS_LIMIT, 10 * 60_000) <= 20 + 10 * 20, 'from an address in ten minutes');
});

t.test('a bucket has its size and empties steadily', async (t) => {
  let tally: Tally | null = null;
  for (let n = 0; n < 20; n += 1) {
    t.equal(guessWaitMs(ADDRESS_LIMIT, tally, date(0)), 0);
    tally = withFailure(ADDRESS_LIMIT, tally, date(0));
  }
  t.equal(guessWaitMs(ADDRESS_LIMIT, tally, date(0)), 3_000);
  t.equal(guessWaitMs(ADDRESS_LIMIT, tally, date(3_000)), 0);
  t.equal(withFailure(ADDRESS_LIMIT, tally, date(60_000)).count, 1, 'empty after a minute');
});

t.test('a clock that moves back allows nothing early and never throws', async (t) => {
  const wait = (count: number, ms: number) => guessWaitMs(ACCOUNT_LIMIT, counted(count, ms), date(0));
  t.equal(wait(5, 5_000), 6_000);
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.integer({ min: -1e12, max: 1e12 }),
      (count, ms) => {
        for (const limit of [ACCOUNT_LIMIT, ADDRESS_LIMIT]) {
          const tally = counted(count, ms);
          if (guessWaitMs(limit, tally, date(0)) < 0) return false;
          if (withFailure(limit, tally, date(0)).count < 1) return false;
        }
        return true;
      },
    ),
  );
});

t.test('the owner elsewhere may try while the account is guessed', async (t) => {
  const attacked = { ...none, account: counted(10) };
  t.equal(signInWaitMs(attacked, false, date(0)), 0, 'an address without a failure');
  t.equal(signInWaitMs({ ...attacked, pair: counted(10) }, true, date(0)), 32_000, 'the one that guessed');
  t.equal(signInWaitMs({ ...attacked, pair: counted(1) }, false, date(0)), 1_000, 'one that slipped once');
  t.equal(signInWaitMs({ ...none, account: counted(3), pair: counted(3) }, false, date(0)), 0);
  t.equal(signInWaitMs({ ...none, address: counted(20) }, true, date(0)), 3_000, 'the address as a whole');
  t.equal(signInWaitMs({ ...none, network: counted(100) }, true, date(0)), 600, 'its network as a whole');
});

t.test('after a hundred failures in a row only known addresses may try', async (t) => {
  const besieged = { ...none, account: counted(TRUSTED_ONLY_FROM) };
  t.equal(signInWaitMs(besieged, false, date(0)), HOUR_MS);
  t.equal(signInWaitMs(besieged, true, date(0)), 0);
  const nearly = { ...none, account: counted(TRUSTED_ONLY_FROM - 1) };
  t.equal(signInWaitMs(nearly, false, date(0)), 0);
});

t.test('a failure is counted for account, address and network', async (t) => {
  const after = afterFailedSignIn(none, date(0));
  t.same(valuesOf(Object.values(after), 'count'), [1, 1, 1, 1]);
});

const MIB = 1_048_576;

t.test('a paste passes at once, and more is read at a mebibyte a second', async (t) => {
  /** Mebibytes arriving at these milliseconds. */
  const cases: readonly (readonly [name: string, atMs: readonly number[], mib: number, restMs: number])[] = [
    ['nothing', [], 1, 0],
    ['a paste of a mebibyte', [0], 1, 0],
    ['two of them', [0, 0], 1, 0],
    ['three', [0, 0, 0], 1, 1_000],
    ['three within two seconds', [0, 1_000, 2_000], 1, 0],
    ['a long silence saves nothing up', [1e9, 1e9, 1e9], 1, 1_000],
  ];
  const after = (atMs: readonly number[], mib: number) =>
    atMs.reduce((rate, ms) => takeTokens(rate, mib * MIB, ms), fullRate(0));
  for (const [name, atMs, mib, rest] of cases) t.equal(restMs(after(atMs, mib)), rest, name);
  t.equal(restMs(takeTokens(after([0, 0, 0], 1), 0, 500)), 500, 'half a second later half of it');
  t.equal(restMs(takeTokens(after([1_000], 2), 0, 0)), 0, 'a clock that goes back');
});

t.test('no input exceeds the burst and a mebibyte a second', async (t) => {
  const frames = fc.array(fc.tuple(fc.nat(3_000), fc.nat(MIB)), { maxLength: 50 });
  fc.assert(
    fc.property(frames, (comes) => {
      let rate = fullRate(0);
      let nowMs = 0;
      let taken = 0;
      for (const [pauseMs, bytes] of comes) {
        nowMs += Math.max(pauseMs, restMs(rate));
        // At most one frame more than the limit is accepted.
        if (taken > BURST_BYTES + (nowMs * MIB) / 1_000 + 1) return false;
        rate = takeTokens(rate, bytes, nowMs);
        taken += bytes;
      }
      return taken <= BURST_BYTES + (nowMs * MIB) / 1_000 + MIB + 1;
    }),
  );
  t.pass();
});

t.test('an IPv4 address counts alone, an IPv6 address by its /64; networks are larger', async (t) => {
  const cases: readonly (readonly [ip: string, address: string, network: string])[] = [
    ['192.0.2.77', '192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:DB8:1:2::6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['1:2:3::', '1:2:3:0::/64', '1:2:3::/48'],
    ['1::3:4:5:6:7:8', '1:0:3:4::/64', '1:0:3::/48'],
    ['1::ffff:192.0.2.77', '1:0:0:0::/64', '1:0:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['::', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
  ];
  for (const [ip, address, network] of cases) {
    t.equal(addressGroup(ip), address, ip);
    t.same(clientNetworkOf(ip), { address, network }, ip);
  }
});

t.test('each concurrent use has its own limit', async (t) => {
  const limits = {
    ...DEFAULT_USE_LIMITS,
    maxTerminals: 1,
    maxEventSockets: 2,
    maxCommands: 3,
    maxUploads: 4,
  };
  const uses = ['terminals', 'event_sockets', 'commands', 'uploads', 'downloads'] as const;
  t.same(
    uses.map((use) => limitOf(use, { ...limits, maxDownloads: 5 })),
    [1, 2, 3, 4, 5],
  );
});
