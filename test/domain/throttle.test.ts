import fc from 'fast-check';
import t from 'tap';
import {
  ACCOUNT_LIMIT,
  ADDRESS_LIMIT,
  afterFailedSignIn,
  guessWaitMs,
  type Limit,
  placeOf,
  type SignInTallies,
  signInWaitMs,
  type Tally,
  TRUSTED_ONLY_FROM,
  withFailure,
} from '../../src/domain/throttle.ts';

const at = (ms: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + ms);
const HOUR_MS = 3_600_000;
const none: SignInTallies = { account: null, pair: null, address: null, network: null };
const counted = (count: number, ms = 0): Tally => ({ count, at: at(ms) });

/** Failures as fast as they are allowed, for so long. */
function guesses(limit: Limit, forMs: number): number {
  let tally: Tally | null = null;
  let done = 0;
  for (let now = 0; now <= forMs; ) {
    const wait = guessWaitMs(limit, tally, at(now));
    if (wait > 0) now += wait;
    else {
      tally = withFailure(limit, tally, at(now));
      done += 1;
    }
  }
  return done;
}

t.test('a delay begins after the free failures and doubles up to an hour', async (t) => {
  const waits = [1, 4, 5, 6, 7, 16, 17, 18, 100].map((count) =>
    guessWaitMs(ACCOUNT_LIMIT, counted(count), at(0)),
  );
  t.same(waits, [0, 0, 1_000, 2_000, 4_000, 2_048_000, HOUR_MS, HOUR_MS, HOUR_MS]);
  t.equal(guessWaitMs(ACCOUNT_LIMIT, counted(5), at(400)), 600, 'what has passed counts');
  t.equal(guessWaitMs(ACCOUNT_LIMIT, counted(5), at(1_000)), 0);
  t.equal(guessWaitMs(ACCOUNT_LIMIT, counted(50), at(24 * HOUR_MS + 1)), 0, 'a day without failures ends it');
  t.same(withFailure(ACCOUNT_LIMIT, counted(50), at(24 * HOUR_MS + 1)).count, 1);
});

t.test('somebody who never stops gets so many guesses', async (t) => {
  t.ok(guesses(ACCOUNT_LIMIT, HOUR_MS) <= 17, 'of an account in an hour');
  t.ok(guesses(ACCOUNT_LIMIT, 24 * HOUR_MS) <= 41, 'and in a day');
  t.ok(guesses(ADDRESS_LIMIT, 10 * 60_000) <= 20 + 10 * 20, 'from an address in ten minutes');
});

t.test('a bucket holds what it says and forgets steadily', async (t) => {
  let tally: Tally | null = null;
  for (let n = 0; n < 20; n += 1) {
    t.equal(guessWaitMs(ADDRESS_LIMIT, tally, at(0)), 0);
    tally = withFailure(ADDRESS_LIMIT, tally, at(0));
  }
  t.equal(guessWaitMs(ADDRESS_LIMIT, tally, at(0)), 3_000);
  t.equal(guessWaitMs(ADDRESS_LIMIT, tally, at(3_000)), 0);
  t.equal(withFailure(ADDRESS_LIMIT, tally, at(60_000)).count, 1, 'empty after a minute');
});

t.test('a clock that goes back opens nothing early and never throws', async (t) => {
  const wait = (count: number, ms: number) => guessWaitMs(ACCOUNT_LIMIT, counted(count, ms), at(0));
  t.equal(wait(5, 5_000), 6_000);
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.integer({ min: -1e12, max: 1e12 }),
      (count, ms) => {
        for (const limit of [ACCOUNT_LIMIT, ADDRESS_LIMIT]) {
          const tally = counted(count, ms);
          if (guessWaitMs(limit, tally, at(0)) < 0) return false;
          if (withFailure(limit, tally, at(0)).count < 1) return false;
        }
        return true;
      },
    ),
  );
});

t.test('the owner elsewhere is let through while the account is guessed at', async (t) => {
  const attacked = { ...none, account: counted(10) };
  t.equal(signInWaitMs(attacked, false, at(0)), 0, 'an address without a failure');
  t.equal(signInWaitMs({ ...attacked, pair: counted(10) }, true, at(0)), 32_000, 'the one that guessed');
  t.equal(signInWaitMs({ ...attacked, pair: counted(1) }, false, at(0)), 1_000, 'one that slipped once');
  t.equal(signInWaitMs({ ...none, account: counted(3), pair: counted(3) }, false, at(0)), 0);
  t.equal(signInWaitMs({ ...none, address: counted(20) }, true, at(0)), 3_000, 'the address as a whole');
  t.equal(signInWaitMs({ ...none, network: counted(100) }, true, at(0)), 600, 'its network as a whole');
});

t.test('after a hundred failures in a row only known addresses may try', async (t) => {
  const besieged = { ...none, account: counted(TRUSTED_ONLY_FROM) };
  t.equal(signInWaitMs(besieged, false, at(0)), HOUR_MS);
  t.equal(signInWaitMs(besieged, true, at(0)), 0);
  const nearly = { ...none, account: counted(TRUSTED_ONLY_FROM - 1) };
  t.equal(signInWaitMs(nearly, false, at(0)), 0);
});

t.test('a failure is counted everywhere', async (t) => {
  const after = afterFailedSignIn(none, at(0));
  t.same(
    Object.values(after).map(({ count }) => count),
    [1, 1, 1, 1],
  );
});

t.test('addresses and their networks', async (t) => {
  const cases = [
    ['192.0.2.77', '192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
  ] as const;
  for (const [ip, address, network] of cases) t.same(placeOf(ip), { address, network }, ip);
});
