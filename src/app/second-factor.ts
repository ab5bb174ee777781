import { randomBytes } from 'node:crypto';
import type { Caller, Origin } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import { RECOVERY_RANDOM_BYTES, readCode, recoveryCodes, TOTP } from '../domain/mfa.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import type { Clock } from '../ports/clock.ts';
import type { Enrolment, OneTimeCodes } from '../ports/one-time-codes.ts';
import type { Repositories, Storage } from '../ports/repositories.ts';
import type { Guard } from './guard.ts';
import { isCurrent, seal, unseal } from './sealed.ts';
import { sha256 } from './secrets.ts';
import { openSession, type SignedIn } from './sign-in.ts';
import { orRollBack } from './transaction.ts';
import { finishWaiting } from './waiting.ts';

export type SecondFactorDeps = {
  readonly storage: Storage;
  readonly guard: Guard;
  readonly codes: OneTimeCodes;
  readonly clock: Clock;
  /** The first encrypts the secrets; all of them decrypt. */
  readonly keys: () => readonly Buffer[];
};

export type MfaStatus = { readonly enabled: boolean; readonly recoveryCodesLeft: number };

export type SecondFactor = ReturnType<typeof secondFactor>;

/** Authenticator apps and recovery codes: setting them up, and signing in with them. */
export function secondFactor({ storage, guard, codes, clock, keys }: SecondFactorDeps) {
  const { repositories, inTransaction } = storage;
  const finish = finishWaiting(storage, guard);

  async function stepOf(tx: Repositories, userId: string, code: string): Promise<number | null> {
    const factor = await tx.factors.totp(userId);
    if (factor === null) return null;
    const secret = unseal(keys(), factor.sealedSecret, userId);
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
      return await guard.tryCode(tx, 'totp', userId, async () => {
        const step = await stepOf(tx, userId, code.code);
        return step !== null && (await tx.factors.acceptStep(userId, step));
      });
    }
    if (!(await tx.recoveryCodes.spend(userId, sha256(code.code)))) return ok(false);
    await tx.audit.append({ userId, action: 'recovery_code_used', ...origin, details: '' });
    return ok(true);
  }

  async function newRecoveryCodes(tx: Repositories, userId: string): Promise<readonly string[]> {
    const made = recoveryCodes(randomBytes(RECOVERY_RANDOM_BYTES));
    await tx.recoveryCodes.replace(
      userId,
      made.map((code) => sha256(code.replaceAll('-', ''))),
    );
    return made;
  }

  /** Something that a right code of a second factor that is on allows. What a wrong code counts for stays. */
  const withCode = <T>(
    { user }: Caller,
    typed: string,
    origin: Origin,
    work: (tx: Repositories, userId: string) => Promise<T>,
  ): Promise<Result<T, DomainError>> =>
    inTransaction(async (tx): Promise<Result<T, DomainError>> => {
      const factor = await tx.factors.totp(user.id);
      if (factor?.confirmedAt == null) return refuse({ code: 'mfa_not_enabled' });
      const right = await useCode(tx, user.id, typed, origin);
      if (!right.ok) return right;
      return right.value ? ok(await work(tx, user.id)) : refuse({ code: 'wrong_code' });
    });

  return {
    async status({ user }: Caller): Promise<MfaStatus> {
      const factor = await repositories.factors.totp(user.id);
      const recoveryCodesLeft = await repositories.recoveryCodes.left(user.id);
      return { enabled: factor?.confirmedAt != null, recoveryCodesLeft };
    },

    /** Ends a waiting sign-in with a code of the app, or with a recovery code. */
    finish: (mfaToken: string, code: string, origin: Origin): Promise<Result<SignedIn, DomainError>> =>
      finish(
        mfaToken,
        origin,
        (tx, user) => useCode(tx, user.id, code, origin),
        (tx, user) => openSession(tx, user, origin),
      ),

    /** A new secret, shown once. It counts from the first right code on; until then a newer one replaces it. */
    async enrol({ user }: Caller): Promise<Result<Enrolment, DomainError>> {
      const secret = randomBytes(TOTP.secretBytes);
      const sealed = seal(keys(), secret, user.id);
      const stored = await repositories.factors.putPendingTotp(user.id, sealed);
      if (!stored) return refuse({ code: 'mfa_already_enabled' });
      return ok(await codes.enrolment(secret, user.email ?? user.username));
    },

    /** Turns it on. The recovery codes are shown this once. */
    confirm: (
      { user }: Caller,
      typed: string,
      origin: Origin,
    ): Promise<Result<readonly string[], DomainError>> =>
      orRollBack(inTransaction, async (tx) => {
        const factor = await tx.factors.totp(user.id);
        if (factor === null) return refuse({ code: 'mfa_not_started' });
        if (factor.confirmedAt !== null) return refuse({ code: 'mfa_already_enabled' });
        const code = readCode(typed);
        const step = code?.kind === 'totp' ? await stepOf(tx, user.id, code.code) : null;
        if (step === null) return refuse({ code: 'wrong_code' });
        // Somebody else may have confirmed, or started again, since it was read.
        if (!(await tx.factors.confirmTotp(user.id, factor.sealedSecret, step))) {
          return refuse({ code: 'wrong_code' });
        }
        await tx.audit.append({ userId: user.id, action: 'mfa_enabled', ...origin, details: '' });
        return ok(await newRecoveryCodes(tx, user.id));
      }),

    /** New recovery codes; the old ones end. */
    renewRecoveryCodes: (caller: Caller, code: string, origin: Origin) =>
      withCode(caller, code, origin, async (tx, userId) => {
        await tx.audit.append({ userId, action: 'recovery_codes_replaced', ...origin, details: '' });
        return await newRecoveryCodes(tx, userId);
      }),

    /** Turns it off. Sign-ins that wait for it end with it. */
    disable: (caller: Caller, code: string, origin: Origin) =>
      withCode(caller, code, origin, async (tx, userId) => {
        await tx.recoveryCodes.replace(userId, []);
        await tx.factors.removeTotp(userId);
        await tx.pending.endAll(userId, 'second_factor');
        await tx.audit.append({ userId, action: 'mfa_disabled', ...origin, details: '' });
      }),

    /**
     * Encrypts with the present key what an earlier one encrypted; for the start, and for when the key has changed.
     * Answers how many no key opens: their users need a recovery code or a passkey.
     */
    async reseal(): Promise<number> {
      let lost = 0;
      for (const { userId, sealedSecret } of await repositories.factors.allSecrets()) {
        if (isCurrent(keys(), sealedSecret)) continue;
        const secret = unseal(keys(), sealedSecret, userId);
        if (secret === null) lost += 1;
        else await repositories.factors.replaceSecret(userId, sealedSecret, seal(keys(), secret, userId));
      }
      return lost;
    },
  };
}
