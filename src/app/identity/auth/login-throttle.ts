import { createHmac } from 'node:crypto';
import type { DomainError } from '../../../domain/errors.ts';
import type { Origin } from '../../../domain/identity/caller.ts';
import {
  ACCOUNT_LIMIT,
  ADDRESS_LIMIT,
  afterFailedSignIn,
  CODE_LIMIT,
  guessWaitMs,
  type Limit,
  placeOf,
  type SignInTallies,
  signInWaitMs,
  TRUSTED_ONLY_FROM,
  withFailure,
} from '../../../domain/identity/login-throttle.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Tallies } from '../../../ports/identity/login-throttle-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';

/** Who tries to sign in. `login` is what was typed; null where the address alone is known. */
export type Attempt = {
  readonly login: string | null;
  readonly userId: string | null;
  readonly origin: Origin;
  /** What is tried, for the audit. */
  readonly by: 'password' | 'second factor' | 'passkey';
};

/** An attempt whose counts are locked: how it ends is written once, and in the order of the locks. */
export type Entered = {
  /**
   * Counts the failure and records it, with what was wrong if that is not what was tried; the refusal to answer with.
   */
  failed(wrong?: 'disabled'): Promise<DomainError>;
  passed(): Promise<void>;
};

const NOBODY = '00000000-0000-0000-0000-000000000000';

const tooMany = (waitingMs: number): DomainError => ({
  code: 'rate_limited',
  retryAfterSeconds: Math.max(1, Math.ceil(waitingMs / 1000)),
});

export type Guard = ReturnType<typeof guard>;

/**
 * Slows guessing down (R21). Failures are counted by digests, so that the table tells nothing of what was typed, and
 * by what was typed instead of by user, so that unknown names are slowed exactly as known ones.
 */
export function guard({ repositories, inTransaction }: Storage, key: () => Buffer) {
  const digest = (...parts: readonly string[]): Buffer =>
    createHmac('sha256', key()).update(JSON.stringify(parts)).digest();

  function keysOf({ login, origin }: Attempt): readonly Buffer[] {
    const { address, network } = placeOf(origin.ipAddress);
    const place = [digest('address', address), digest('network', network)];
    if (login === null) return place;
    const account = login.toLowerCase();
    return [...place, digest('account', account), digest('pair', account, address)];
  }

  async function waitOf(tx: Repositories, attempt: Attempt, tallies: SignInTallies, now: Date) {
    // Asked for somebody who does not exist as well, so that both take their time.
    const asked = (tallies.account?.count ?? 0) >= TRUSTED_ONLY_FROM;
    const { userId, origin } = attempt;
    const trusted = asked && (await tx.sessions.seenAt(userId ?? NOBODY, origin.ipAddress));
    return signInWaitMs(tallies, trusted, now);
  }

  return {
    /** Whether this may be tried at all now, asked before the costly part. The answer is only final in `enter`. */
    async refused(attempt: Attempt): Promise<DomainError | null> {
      const { tallies, now } = toTallies(await repositories.throttle.read(keysOf(attempt)));
      const wait = await waitOf(repositories, attempt, tallies, now);
      return wait > 0 ? tooMany(wait) : null;
    },

    /**
     * Locks the counts. Attempts that were made at the same time come here one after the other, each after the
     * failures of those before it, so that a burst gets no more guesses than a queue.
     */
    async enter(tx: Repositories, attempt: Attempt): Promise<Result<Entered, DomainError>> {
      const keys = keysOf(attempt);
      const { tallies, now } = toTallies(await tx.throttle.lock(keys));
      const wait = await waitOf(tx, attempt, tallies, now);
      if (wait > 0) return refuse(tooMany(wait));
      return ok({
        async failed(wrong) {
          const after = afterFailedSignIn(tallies, now);
          const counts = [after.address, after.network, after.account, after.pair];
          await tx.throttle.put(
            keys.map((one, index) => ({ key: one, tally: counts[index] ?? after.address })),
          );
          const { userId, origin, by } = attempt;
          await tx.audit.append({ userId, action: 'login_failed', ...origin, details: wrong ?? by });
          const guessedAt = guessWaitMs(ACCOUNT_LIMIT, tallies.account, now) > 0;
          if (!guessedAt) return { code: 'login_failed' };
          return tooMany(guessWaitMs(ACCOUNT_LIMIT, after.account, now));
        },
        async passed() {
          // The address keeps its count: one's own sign-in would buy the next guesses at others.
          const [, , ...ofAccount] = keys;
          if (ofAccount.length > 0) await tx.throttle.forget(ofAccount);
        },
      });
    },

    /** Whether a code or password of that user may be tried now, asked before the costly part. */
    async codeRefused(what: 'totp' | 'password', userId: string): Promise<DomainError | null> {
      const { tallies, now } = await repositories.throttle.read([digest(what, userId)]);
      const wait = guessWaitMs(CODE_LIMIT, tallies[0] ?? null, now);
      return wait > 0 ? tooMany(wait) : null;
    },

    /** Lets a code or password of a known user be tried, and counts when it was wrong. */
    async tryCode(
      tx: Repositories,
      what: 'totp' | 'password',
      userId: string,
      right: () => Promise<boolean>,
    ): Promise<Result<boolean, DomainError>> {
      const one = digest(what, userId);
      const { tallies, now } = await tx.throttle.lock([one]);
      const [tally = null] = tallies;
      const wait = guessWaitMs(CODE_LIMIT, tally, now);
      if (wait > 0) return refuse(tooMany(wait));
      const passes = await right();
      if (passes) await tx.throttle.forget([one]);
      else await tx.throttle.put([{ key: one, tally: withFailure(CODE_LIMIT, tally, now) }]);
      return ok(passes);
    },

    /** Lets a code be tried that tells nothing of whose it is: wrong ones count for who tries, and for the address. */
    async tryShared<T>(
      tx: Repositories,
      what: 'collaboration',
      userId: string,
      origin: Origin,
      find: () => Promise<T | null>,
    ): Promise<Result<T | null, DomainError>> {
      const ofUser = digest(what, userId);
      const ofAddress = digest(`${what} address`, placeOf(origin.ipAddress).address);
      const { tallies, now } = await tx.throttle.lock([ofUser, ofAddress]);
      const [user = null, address = null] = tallies;
      const wait = Math.max(guessWaitMs(CODE_LIMIT, user, now), guessWaitMs(ADDRESS_LIMIT, address, now));
      if (wait > 0) return refuse(tooMany(wait));
      const found = await find();
      if (found !== null) await tx.throttle.forget([ofUser]);
      else
        await tx.throttle.put([
          { key: ofUser, tally: withFailure(CODE_LIMIT, user, now) },
          { key: ofAddress, tally: withFailure(ADDRESS_LIMIT, address, now) },
        ]);
      return ok(found);
    },

    /** Takes one from what an address may do in a minute, whether it succeeds or not. */
    async take(what: string, origin: Origin, perMinute: number): Promise<Result<null, DomainError>> {
      const one = digest(what, placeOf(origin.ipAddress).address);
      const limit: Limit = { kind: 'bucket', perMinute };
      return await inTransaction(async (tx) => {
        const { tallies, now } = await tx.throttle.lock([one]);
        const [tally = null] = tallies;
        const wait = guessWaitMs(limit, tally, now);
        if (wait > 0) return refuse(tooMany(wait));
        await tx.throttle.put([{ key: one, tally: withFailure(limit, tally, now) }]);
        return ok(null);
      });
    },
  };
}

function toTallies({ tallies, now }: Tallies): { tallies: SignInTallies; now: Date } {
  const [address = null, network = null, account = null, pair = null] = tallies;
  return { tallies: { address, network, account, pair }, now };
}
