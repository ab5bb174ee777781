import type { DomainError } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  ACCOUNT_LIMIT,
  afterFailedSignIn,
  clientNetworkOf,
  guessWaitMs,
  type SignInTallies,
  signInWaitMs,
  TRUSTED_ONLY_FROM,
} from '../../../domain/identity/login-throttle.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Tallies } from '../../../ports/identity/login-throttle-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import {
  codeRefused,
  digestWith,
  type Guessed,
  type Shared,
  type ThrottleDeps,
  take,
  tooMany,
  tryCode,
  tryShared,
} from './guess-throttle.ts';

/** A sign-in attempt. `login` is the text entered; null where only the address is known. */
export type SignInAttempt = {
  readonly login: string | null;
  readonly userId: string | null;
  readonly origin: RequestOrigin;
  /** What is being tried, for the audit. */
  readonly by: 'password' | 'second factor' | 'passkey' | 'SSH key' | 'account link' | 'provider';
};

/** A cause other than a wrong secret. */
export type SignInFault = 'disabled';

/** An attempt with locked counts: its result is written once, in the order of the locks. */
export type Attempt = {
  /** Counts and records the failure, with another cause if given; returns the refusal. */
  failed(wrong?: SignInFault): Promise<DomainError>;
  passed(): Promise<void>;
};

const NOBODY = '00000000-0000-0000-0000-000000000000';

export type LoginThrottle = ReturnType<typeof loginThrottle>;

/**
 * Slows guessing down. Failures are counted by digests, so the table does not reveal the text entered, and by text
 * instead of by user, so unknown names are slowed like known ones.
 */
export function loginThrottle(storage: Storage, key: () => Buffer) {
  const deps: ThrottleDeps = { storage, digest: digestWith(key) };
  return {
    /** Whether the attempt may be made, checked before the expensive part. `begin` has the final answer. */
    refused: (attempt: SignInAttempt) => refused(deps, attempt),

    /**
     * Locks the counts. Concurrent attempts run in turn, each after the failures of those before it, so a burst gets no
     * more guesses than a sequence.
     */
    begin: (tx: Repositories, attempt: SignInAttempt) => begin(deps, tx, attempt),

    /** Whether the user's code or password may be tried, checked before the expensive part. */
    codeRefused: (what: Guessed, userId: string) => codeRefused(deps, what, userId),

    /** Tries a known user's code or password, and counts a wrong one. */
    tryCode: (tx: Repositories, what: Guessed, userId: string, right: () => Promise<boolean>) =>
      tryCode(deps, { tx, what, userId }, right),

    /** Tries a code that identifies no user: a wrong one counts for the caller and the address. */
    tryShared: <T>(
      tx: Repositories,
      what: Shared,
      userId: string,
      origin: RequestOrigin,
      find: () => Promise<T | null>,
    ) => tryShared(deps, { tx, what, userId }, origin, find),

    /** Uses one of an address's requests a minute, successful or not. */
    consume: (what: string, origin: RequestOrigin, perMinute: number) =>
      storage.inTransaction((tx) => take(deps, tx, { what, origin }, perMinute)),

    /** The same in the caller's transaction. */
    consumeIn: (tx: Repositories, what: string, origin: RequestOrigin, perMinute: number) =>
      take(deps, tx, { what, origin }, perMinute),
  };
}

async function refused(deps: ThrottleDeps, attempt: SignInAttempt): Promise<DomainError | null> {
  const { repositories } = deps.storage;
  const { tallies, now } = toTallies(await repositories.throttle.read(keysOf(deps, attempt)));
  const wait = await waitOf(repositories, attempt, tallies, now);
  return wait > 0 ? tooMany(wait) : null;
}

async function begin(deps: ThrottleDeps, tx: Repositories, attempt: SignInAttempt): AsyncResult<Attempt> {
  const keys = keysOf(deps, attempt);
  const { tallies, now } = toTallies(await tx.throttle.lock(keys));
  const wait = await waitOf(tx, attempt, tallies, now);
  if (wait > 0) return refuse(tooMany(wait));
  return ok({
    failed: (wrong) => countFailure(tx, attempt, { keys, tallies, now }, wrong),
    async passed() {
      // The address keeps its count: a successful sign-in must not buy guesses at other accounts.
      const [, , ...ofAccount] = keys;
      if (ofAccount.length > 0) await tx.throttle.forget(ofAccount);
    },
  });
}

type Locked = { readonly keys: readonly Buffer[]; readonly tallies: SignInTallies; readonly now: Date };

async function countFailure(
  tx: Repositories,
  { userId, origin, by }: SignInAttempt,
  { keys, tallies, now }: Locked,
  wrong: SignInFault | undefined,
): Promise<DomainError> {
  const after = afterFailedSignIn(tallies, now);
  const counts = [after.address, after.network, after.account, after.pair];
  await tx.throttle.put(keys.map((key, index) => ({ key, tally: counts[index] ?? after.address })));
  await tx.audit.append({ userId, action: 'login_failed', ...origin, details: wrong ?? by });
  const guessedAt = guessWaitMs(ACCOUNT_LIMIT, tallies.account, now) > 0;
  if (!guessedAt) return { code: 'login_failed' };
  return tooMany(guessWaitMs(ACCOUNT_LIMIT, after.account, now));
}

function keysOf({ digest }: ThrottleDeps, { login, origin }: SignInAttempt): readonly Buffer[] {
  const { address, network } = clientNetworkOf(origin.ipAddress);
  const ofAddress = [digest('address', address), digest('network', network)];
  if (login === null) return ofAddress;
  const account = login.toLowerCase();
  return [...ofAddress, digest('account', account), digest('pair', account, address)];
}

async function waitOf(
  tx: Repositories,
  { userId, origin }: SignInAttempt,
  tallies: SignInTallies,
  now: Date,
): Promise<number> {
  // Asked for unknown users too, so that both take the same time.
  const asked = (tallies.account?.count ?? 0) >= TRUSTED_ONLY_FROM;
  const trusted = asked && (await tx.sessions.seenAt(userId ?? NOBODY, origin.ipAddress));
  return signInWaitMs(tallies, trusted, now);
}

function toTallies({ tallies, now }: Tallies): { tallies: SignInTallies; now: Date } {
  const [address = null, network = null, account = null, pair = null] = tallies;
  return { tallies: { address, network, account, pair }, now };
}
