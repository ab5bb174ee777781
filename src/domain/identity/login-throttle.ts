import { addressGroup } from './request-rate.ts';

/**
 * How often a secret may be guessed. Failures are counted under keys, and the counts decide how long to wait. A bucket
 * empties steadily; a delay doubles with each failure in a row.
 */
export type Tally = { readonly count: number; readonly at: Date };

export type Limit =
  | { readonly kind: 'bucket'; readonly perMinute: number }
  | { readonly kind: 'delay'; readonly free: number };

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 3_600_000;
/** After this time without a failure the count starts over. */
export const FORGET_AFTER_MS = 86_400_000;

/** Failures of an account or code without a delay, for typing errors. */
const FREE_FAILURES = 5;

export const ADDRESS_LIMIT: Limit = { kind: 'bucket', perMinute: 20 };
// Larger for a network, so that one bad neighbour does not shut out the others.
export const NETWORK_LIMIT: Limit = { kind: 'bucket', perMinute: 100 };
export const ACCOUNT_LIMIT: Limit = { kind: 'delay', free: FREE_FAILURES };
/** Guesses of a code or password during or after a sign-in. */
export const CODE_LIMIT: Limit = { kind: 'delay', free: FREE_FAILURES };
const PAIR_LIMIT: Limit = { kind: 'delay', free: 1 };

/** From this many failures in a row only addresses that signed in to the account before may try. */
export const TRUSTED_ONLY_FROM = 100;

/** Milliseconds until the next try; 0 for now. */
export function guessWaitMs(limit: Limit, tally: Tally | null, now: Date): number {
  if (tally === null) return 0;
  if (limit.kind === 'bucket') {
    const perMs = limit.perMinute / 60_000;
    return Math.max(0, Math.ceil((levelOf(tally, limit.perMinute, now) - (limit.perMinute - 1)) / perMs));
  }
  if (tally.count < limit.free || forgotten(tally, now)) return 0;
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tally.count - limit.free));
  return Math.max(0, tally.at.getTime() + delay - now.getTime());
}

export function withFailure(limit: Limit, tally: Tally | null, now: Date): Tally {
  if (tally === null) return { count: 1, at: now };
  const before = limit.kind === 'bucket' ? levelOf(tally, limit.perMinute, now) : tally.count;
  return { count: (forgotten(tally, now) ? 0 : before) + 1, at: now };
}

const levelOf = ({ count, at }: Tally, perMinute: number, now: Date): number =>
  Math.max(0, count - (Math.max(0, now.getTime() - at.getTime()) * perMinute) / 60_000);

const forgotten = ({ at }: Tally, now: Date): boolean => now.getTime() - at.getTime() > FORGET_AFTER_MS;

/** The failure counters of a sign-in: of the account, of this address on it, of the address, of its network. */
export type SignInTallies = {
  readonly account: Tally | null;
  readonly pair: Tally | null;
  readonly address: Tally | null;
  readonly network: Tally | null;
};

/**
 * Milliseconds until this address may try this account. While an account is being guessed, the addresses that took part
 * wait; an address without a failure may try, so the owner is never locked out. After too many failures from anywhere,
 * only addresses with an earlier sign-in may try (`trusted`).
 */
export function signInWaitMs(tallies: SignInTallies, trusted: boolean, now: Date): number {
  const { account, pair, address, network } = tallies;
  const addressWaitMs = Math.max(
    guessWaitMs(ADDRESS_LIMIT, address, now),
    guessWaitMs(NETWORK_LIMIT, network, now),
  );
  const wait = guessWaitMs(ACCOUNT_LIMIT, account, now);
  const shut = !trusted && account !== null && account.count >= TRUSTED_ONLY_FROM;
  return Math.max(addressWaitMs, shut ? wait : Math.min(wait, guessWaitMs(PAIR_LIMIT, pair, now)));
}

export const afterFailedSignIn = (tallies: SignInTallies, now: Date) => ({
  account: withFailure(ACCOUNT_LIMIT, tallies.account, now),
  pair: withFailure(PAIR_LIMIT, tallies.pair, now),
  address: withFailure(ADDRESS_LIMIT, tallies.address, now),
  network: withFailure(NETWORK_LIMIT, tallies.network, now),
});

export type ClientNetwork = { readonly address: string; readonly network: string };

/** What counts as one address and one network: a.b.c.d and its /24; for IPv6 the /64 and /48. */
export function clientNetworkOf(ip: string): ClientNetwork {
  const address = addressGroup(ip);
  const network = address.includes(':')
    ? `${address.split(':').slice(0, 3).join(':')}::/48`
    : `${address.split('.').slice(0, 3).join('.')}.0/24`;
  return { address, network };
}
