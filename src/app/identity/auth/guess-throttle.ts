import { createHmac } from 'node:crypto';
import type { DomainError } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  ADDRESS_LIMIT,
  CODE_LIMIT,
  clientNetworkOf,
  guessWaitMs,
  type Limit,
  withFailure,
} from '../../../domain/identity/login-throttle.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';

export type ThrottleDeps = {
  readonly storage: Storage;
  /** A key for counting that reveals nothing about the parts. */
  readonly digest: (...parts: readonly string[]) => Buffer;
};

export const digestWith =
  (key: () => Buffer): ThrottleDeps['digest'] =>
  (...parts) =>
    createHmac('sha256', key()).update(JSON.stringify(parts)).digest();

/** Too many guesses or requests. */
export type TooMany = Extract<DomainError, { readonly code: 'rate_limited' }>;

export const tooMany = (waitingMs: number): TooMany => ({
  code: 'rate_limited',
  retryAfterSeconds: Math.max(1, Math.ceil(waitingMs / 1000)),
});

/** What a signed-in or pending user may guess. */
export type Guessed = 'totp' | 'password';

/** Codes that identify no user. */
export type Shared = 'collaboration' | 'device_code';

/** A guess in the caller's transaction. */
export type Guess<What extends string> = {
  readonly tx: Repositories;
  readonly what: What;
  readonly userId: string;
};

export async function codeRefused(
  { storage, digest }: ThrottleDeps,
  what: Guessed,
  userId: string,
): Promise<DomainError | null> {
  const { tallies, now } = await storage.repositories.throttle.read([digest(what, userId)]);
  const wait = guessWaitMs(CODE_LIMIT, tallies[0] ?? null, now);
  return wait > 0 ? tooMany(wait) : null;
}

export async function tryCode(
  { digest }: ThrottleDeps,
  { tx, what, userId }: Guess<Guessed>,
  right: () => Promise<boolean>,
): AsyncResult<boolean> {
  const key = digest(what, userId);
  const { tallies, now } = await tx.throttle.lock([key]);
  const [tally = null] = tallies;
  const wait = guessWaitMs(CODE_LIMIT, tally, now);
  if (wait > 0) return refuse(tooMany(wait));
  const passes = await right();
  if (passes) await tx.throttle.forget([key]);
  else await tx.throttle.put([{ key, tally: withFailure(CODE_LIMIT, tally, now) }]);
  return ok(passes);
}

export async function tryShared<T>(
  { digest }: ThrottleDeps,
  { tx, what, userId }: Guess<Shared>,
  origin: RequestOrigin,
  find: () => Promise<T | null>,
): AsyncResult<T | null> {
  const ofUser = digest(what, userId);
  const ofAddress = digest(`${what} address`, clientNetworkOf(origin.ipAddress).address);
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
}

export async function take(
  { digest }: Pick<ThrottleDeps, 'digest'>,
  tx: Repositories,
  { what, origin }: { readonly what: string; readonly origin: RequestOrigin },
  perMinute: number,
): Promise<Result<null, TooMany>> {
  const key = digest(what, clientNetworkOf(origin.ipAddress).address);
  const limit: Limit = { kind: 'bucket', perMinute };
  const { tallies, now } = await tx.throttle.lock([key]);
  const [tally = null] = tallies;
  const wait = guessWaitMs(limit, tally, now);
  if (wait > 0) return refuse(tooMany(wait));
  await tx.throttle.put([{ key, tally: withFailure(limit, tally, now) }]);
  return ok(null);
}
