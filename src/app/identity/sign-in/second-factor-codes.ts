import type { DomainError } from '../../../domain/errors.ts';
import type { Origin } from '../../../domain/identity/caller.ts';
import { readCode } from '../../../domain/identity/second-factor.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { OneTimeCodes } from '../../../ports/identity/totp-generator.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import { decrypt } from '../auth/encryption.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { sha256 } from '../auth/secrets.ts';
import type { RequestLimits } from '../limits/request-limits.ts';

/** Codes of a signed-in user in a minute. Each wrong one makes a record, and wrong recovery codes are not slowed. */
const CODES_PER_USER = 30;

export type FactorCodesDeps = {
  readonly storage: Storage;
  readonly throttle: LoginThrottle;
  readonly codes: OneTimeCodes;
  readonly clock: Clock;
  /** The first encrypts the secrets; all of them decrypt. */
  readonly keys: () => readonly Buffer[];
  readonly limits: Pick<RequestLimits, 'admit'>;
};

export type FactorCodes = ReturnType<typeof factorCodes>;

/** The codes of a second factor: which step of time they are of, and using them up. */
export function factorCodes({ storage, throttle, codes, clock, keys, limits }: FactorCodesDeps) {
  async function stepOf(tx: Repositories, userId: string, code: string): Promise<number | null> {
    const factor = await tx.factors.totp(userId);
    if (factor === null) return null;
    const secret = decrypt(keys(), factor.sealedSecret, userId);
    return secret === null ? null : codes.stepOf(secret, code, clock.now());
  }

  /** Uses a code of either kind up. Those of apps are few enough to be guessed, so failures of theirs slow down. */
  async function useCode(
    tx: Repositories,
    userId: string,
    typed: string,
    origin: Origin,
  ): Promise<Result<boolean, DomainError>> {
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

  /** Something that a right code of a second factor that is on allows. What a wrong code counts for stays. */
  const withCode = async <T>(
    userId: string,
    typed: string,
    origin: Origin,
    work: (tx: Repositories, userId: string) => Promise<T>,
  ): Promise<Result<T, DomainError>> => {
    const admitted = limits.admit(`code user ${userId}`, CODES_PER_USER);
    if (!admitted.ok) return admitted;
    return await storage.inTransaction(async (tx): Promise<Result<T, DomainError>> => {
      // As a sign-in does, which holds the user first: two that lock in opposite orders wait for each other.
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
