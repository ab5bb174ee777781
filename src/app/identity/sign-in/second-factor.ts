import { randomBytes } from 'node:crypto';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  RECOVERY_RANDOM_BYTES,
  readCode,
  recoveryCodes,
  TOTP,
  type TotpFactor,
} from '../../../domain/identity/second-factor.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Enrolment } from '../../../ports/identity/totp-generator.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { withLockedCaller } from '../account/lock-caller.ts';
import { decrypt, encrypt, isCurrentKey } from '../auth/encryption.ts';
import { sha256 } from '../auth/secrets.ts';
import { finishPendingSignIn } from './pending-sign-in.ts';
import type { RequireRecentSignIn } from './reauthentication.ts';
import type { FactorCodes, FactorCodesDeps } from './second-factor-codes.ts';
import { openSession, type SignedIn } from './sign-in.ts';

export type SecondFactorDeps = FactorCodesDeps & {
  readonly factorCodes: FactorCodes;
  readonly confirmed: RequireRecentSignIn;
};

export type MfaStatus = { readonly enabled: boolean; readonly recoveryCodesLeft: number };

export type SecondFactor = ReturnType<typeof secondFactor>;

/** Authenticator apps and recovery codes: setting up and signing in. */
export const secondFactor = (deps: SecondFactorDeps) => ({
  status: (caller: Caller) => status(deps, caller),

  /** Completes a pending sign-in with an app's or a recovery code. */
  finish: (mfaToken: string, code: string, origin: RequestOrigin): AsyncResult<SignedIn> =>
    finishPendingSignIn(deps.storage, deps.throttle)(
      mfaToken,
      origin,
      (tx, user) => deps.factorCodes.useCode(tx, user.id, code, origin),
      (tx, user, provider) => openSession(tx, user, origin, provider),
    ),

  /** A new secret, shown once. It is active after the first right code; until then a newer one replaces it. */
  enrol: (caller: Caller) => enrol(deps, caller),

  /** Turns it on, after a recent sign-in or with the password. The recovery codes are shown once. */
  confirm: (caller: Caller, typed: string, password: string | undefined, origin: RequestOrigin) =>
    confirm(deps, caller, { typed, password }, origin),

  renewRecoveryCodes: (caller: Caller, code: string, origin: RequestOrigin) =>
    renewRecoveryCodes(deps, caller, code, origin),

  /** Turns it off and ends sign-ins that wait for it. */
  disable: (caller: Caller, code: string, origin: RequestOrigin) => disable(deps, caller, code, origin),

  /**
   * Re-encrypts with the present key, at the start and after a key change. Returns how many no key opens: their users
   * need a recovery code or a passkey.
   */
  reseal: () => reseal(deps),
});

async function status({ storage: { repositories } }: SecondFactorDeps, { user }: Caller): Promise<MfaStatus> {
  const factor = await repositories.factors.totp(user.id);
  const recoveryCodesLeft = await repositories.recoveryCodes.left(user.id);
  return { enabled: factor?.confirmedAt != null, recoveryCodesLeft };
}

async function enrol({ storage, codes, keys }: SecondFactorDeps, { user }: Caller): AsyncResult<Enrolment> {
  if (user.guestUntil !== null) return refuse({ code: 'account_required' });
  const secret = randomBytes(TOTP.secretBytes);
  const sealed = encrypt(keys(), secret, user.id);
  const stored = await storage.repositories.factors.putPendingTotp(user.id, sealed);
  if (!stored) return refuse({ code: 'mfa_already_enabled' });
  return ok(await codes.enrolment(secret, user.email ?? user.username));
}

async function confirm(
  { storage, factorCodes, confirmed }: SecondFactorDeps,
  caller: Caller,
  { typed, password }: { readonly typed: string; readonly password: string | undefined },
  origin: RequestOrigin,
): AsyncResult<readonly string[]> {
  const { user } = caller;
  const begun = pending(await storage.repositories.factors.totp(user.id));
  if (!begun.ok) return begun;
  const sure = await confirmed(caller, { password }, origin);
  if (!sure.ok) return sure;
  return await withLockedCaller(storage.inTransaction, caller, async (tx) => {
    const factor = pending(await tx.factors.totp(user.id));
    if (!factor.ok) return factor;
    const code = readCode(typed);
    const step = code?.kind === 'totp' ? await factorCodes.stepOf(tx, user.id, code.code) : null;
    if (step === null) return refuse({ code: 'wrong_code' });
    // Another request may have confirmed or replaced it since the read.
    if (!(await tx.factors.confirmTotp(user.id, factor.value.sealedSecret, step))) {
      return refuse({ code: 'wrong_code' });
    }
    await tx.audit.append({ userId: user.id, action: 'mfa_enabled', ...origin, details: '' });
    return ok(await newRecoveryCodes(tx, user.id));
  });
}

const renewRecoveryCodes = (
  { factorCodes }: SecondFactorDeps,
  { user }: Caller,
  code: string,
  origin: RequestOrigin,
): AsyncResult<readonly string[]> =>
  factorCodes.withCode(user.id, code, origin, async (tx, userId) => {
    await tx.audit.append({ userId, action: 'recovery_codes_replaced', ...origin, details: '' });
    return await newRecoveryCodes(tx, userId);
  });

const disable = (
  { factorCodes }: SecondFactorDeps,
  { user }: Caller,
  code: string,
  origin: RequestOrigin,
): AsyncResult<void> =>
  factorCodes.withCode(user.id, code, origin, async (tx, userId) => {
    await tx.recoveryCodes.replace(userId, []);
    await tx.factors.removeTotp(userId);
    await tx.pending.endAll(userId, 'second_factor');
    await tx.audit.append({ userId, action: 'mfa_disabled', ...origin, details: '' });
  });

async function reseal({ storage, keys }: SecondFactorDeps): Promise<number> {
  const { factors } = storage.repositories;
  let lost = 0;
  for (const { userId, sealedSecret } of await factors.allSecrets()) {
    if (isCurrentKey(keys(), sealedSecret)) continue;
    const secret = decrypt(keys(), sealedSecret, userId);
    if (secret === null) lost += 1;
    else await factors.replaceSecret(userId, sealedSecret, encrypt(keys(), secret, userId));
  }
  return lost;
}

async function newRecoveryCodes(tx: Repositories, userId: string): Promise<readonly string[]> {
  const made = recoveryCodes(randomBytes(RECOVERY_RANDOM_BYTES));
  await tx.recoveryCodes.replace(
    userId,
    made.map((code) => sha256(code.replaceAll('-', ''))),
  );
  return made;
}

/** A factor without its first code. */
function pending(factor: TotpFactor | null): Result<TotpFactor, DomainError> {
  if (factor === null) return refuse({ code: 'mfa_not_started' });
  return factor.confirmedAt === null ? ok(factor) : refuse({ code: 'mfa_already_enabled' });
}
