import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { sessionEnd, signedInLately } from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { SessionWithUser } from '../../../ports/identity/session-repository.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { Hashing } from '../limits/hashing-queue.ts';
import type { FactorCodes } from './second-factor-codes.ts';

/** Proofs that the caller is the account's owner. */
export type Proofs = { readonly password?: string | undefined; readonly code?: string | undefined };

export type ReauthenticationDeps = {
  readonly storage: Storage;
  readonly hashing: Hashing;
  readonly throttle: LoginThrottle;
  readonly codes: FactorCodes;
};

/** ok after a valid proof. A wrong proof is counted, a right code is used up. */
export type RequireRecentSignIn = (caller: Caller, given: Proofs, origin: RequestOrigin) => AsyncResult<null>;

/** The hash of the given password, if it is the user's. A wrong one is counted. */
export type ProvePassword = (
  userId: string,
  password: string,
  origin: RequestOrigin,
) => AsyncResult<string | null>;

export const provePassword =
  ({
    storage: { repositories, inTransaction },
    hashing,
    throttle,
  }: Omit<ReauthenticationDeps, 'codes'>): ProvePassword =>
  async (userId, password, origin) => {
    const hash = (await repositories.users.lockForSignIn(userId))?.passwordHash ?? null;
    const checked = await hashing.inTurn(
      { userId },
      () => throttle.codeRefused('password', userId),
      (hasher) => hasher.verify(hash, password),
    );
    if (!checked.ok) return checked;
    return await inTransaction(async (tx): AsyncResult<string | null> => {
      const locked = await tx.users.lockForSignIn(userId);
      const right = await throttle.tryCode(
        tx,
        'password',
        userId,
        async () => checked.value && locked !== null && locked.passwordHash === hash,
      );
      if (!right.ok) return right;
      if (right.value) return ok(hash);
      await tx.audit.append({ userId, action: 'confirmation_failed', ...origin, details: 'password' });
      return refuse({ code: 'wrong_password' });
    });
  };

/** Whether the session was opened or confirmed lately; null when it has ended. */
function isRecent(found: SessionWithUser | null): boolean | null {
  if (found === null || sessionEnd(found.session, found.now, found.idleMinutes) !== null) return null;
  return signedInLately(found.session, found.now);
}

/**
 * Whether the caller owns the account, not just a login token: by a recent sign-in, or by the proofs that a sign-in
 * needs. Guests have neither.
 */
export function requireRecentSignIn(deps: ReauthenticationDeps): RequireRecentSignIn {
  const { storage, codes } = deps;
  const { repositories } = storage;
  const byPassword = provePassword(deps);

  return async ({ user, credential }, given, origin) => {
    if (user.guestUntil !== null) return refuse({ code: 'account_required' });
    if (credential.kind !== 'login') return refuse({ code: 'login_token_required' });
    const recent = isRecent(await repositories.sessions.findWithUser(credential.sessionId));
    if (recent === null) return refuse({ code: 'unauthorized' });
    if (recent) return ok(null);
    const factor = await repositories.factors.totp(user.id);
    if (factor?.confirmedAt != null) {
      if (given.code === undefined) return refuse({ code: 'confirmation_required', by: 'code' });
      return await codes.withCode(user.id, given.code, origin, async () => null);
    }
    if (given.password === undefined) {
      const person = await repositories.users.lockForSignIn(user.id);
      // A user who signs in by a provider alone confirms there.
      return refuse({
        code: 'confirmation_required',
        by: person?.passwordHash == null ? 'provider' : 'password',
      });
    }
    const proven = await byPassword(user.id, given.password, origin);
    return proven.ok ? ok(null) : proven;
  };
}
