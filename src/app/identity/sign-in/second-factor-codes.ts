import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { readCode } from '../../../domain/identity/second-factor.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { OneTimeCodes } from '../../../ports/identity/totp-generator.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { decrypt } from '../auth/encryption.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { sha256 } from '../auth/secrets.ts';
import type { RequestLimits } from '../limits/request-limits.ts';

/** A signed-in user's codes a minute. Each wrong one makes a record, and wrong recovery codes cause no delay. */
const CODES_PER_USER = 30;

export type FactorCodesDeps = {
  readonly storage: Storage;
  readonly throttle: LoginThrottle;
  readonly codes: OneTimeCodes;
  readonly clock: Clock;
  /** The first encrypts; all decrypt. */
  readonly keys: () => readonly Buffer[];
  readonly limits: Pick<RequestLimits, 'admit'>;
};

export type FactorCodes = ReturnType<typeof factorCodes>;

/** Checks second-factor codes and uses them up. */
export function factorCodes({ storage, throttle, codes, clock, keys, limits }: FactorCodesDeps) {
  async function stepOf(tx: Repositories, userId: string, code: string): Promise<number | null> {
    const factor = await tx.factors.totp(userId);
    if (factor === null) return null;
    const secret = decrypt(keys(), factor.sealedSecret, userId);
    return secret === null ? null : codes.stepOf(secret, code, clock.now());
  }

  /** Uses up a code of either kind. App codes could be guessed, so their failures cause delays. */
  async function useCode(
    tx: Repositories,
    userId: string,
    typed: string,
    origin: RequestOrigin,
  ): AsyncResult<boolean> {
    const code = readCode(typed);
    if (code === null) return ok(false);
    if (code.kind === 'totp') {
      return await throttle.tryCode(tx, 'totp', userId, async () => {
        const step = await stepOf(tx, userId, code.code);
        return step !== null && (await tx.factors.acceptStep(userId, step));
      });
    }
    if (!(await tx.recoveryCodes.spend(userId, sha256(code.code)))) return ok(false);
    await tx.audit.append({ userId, action: 'recovery_code_used', ...origin, details: '' });
    return ok(true);
  }

  /** Does something that requires a valid code. A wrong code's count stays. */
  const withCode = async <T>(
    userId: string,
    typed: string,
    origin: RequestOrigin,
    work: (tx: Repositories, userId: string) => Promise<T>,
  ): AsyncResult<T> => {
    const admitted = limits.admit(`code user ${userId}`, CODES_PER_USER);
    if (!admitted.ok) return admitted;
    return await storage.inTransaction(async (tx): AsyncResult<T> => {
      // Lock the user first, as a sign-in does: opposite orders would deadlock.
      await tx.users.lock(userId);
      const factor = await tx.factors.totp(userId);
      if (factor?.confirmedAt == null) return refuse({ code: 'mfa_not_enabled' });
      const right = await useCode(tx, userId, typed, origin);
      if (!right.ok) return right;
      if (right.value) return ok(await work(tx, userId));
      await tx.audit.append({ userId, action: 'confirmation_failed', ...origin, details: 'code' });
      return refuse({ code: 'wrong_code' });
    });
  };

  return { stepOf, useCode, withCode };
}
