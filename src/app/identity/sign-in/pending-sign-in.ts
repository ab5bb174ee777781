import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import {
  type SecondFactorMethod,
  WAITING_MINUTES,
  WAITING_TRIES,
} from '../../../domain/identity/second-factor.ts';
import type { User } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { UserWithPassword } from '../../../ports/identity/user-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';

/** A sign-in by the right password or a provider that lacks its second factor. `mfaToken` allows nothing else. */
export type PendingSignIn = {
  readonly mfaToken: string;
  readonly expiresAt: Date;
  readonly methods: readonly SecondFactorMethod[];
};

/** Begins a pending sign-in; null when the user has no second factor. `provider`: see `openSession`. */
export async function beginPendingSignIn(
  tx: Repositories,
  user: User,
  provider: ProviderSession | null = null,
): Promise<PendingSignIn | null> {
  const factor = await tx.factors.totp(user.id);
  if (factor?.confirmedAt == null) return null;
  const mfaToken = newSecret();
  const hash = sha256(mfaToken);
  const expiresAt = await tx.pending.insert(hash, 'second_factor', user.id, WAITING_MINUTES, provider);
  const codesLeft = await tx.recoveryCodes.left(user.id);
  const passkeys = await tx.passkeys.listOf(user.id);
  return {
    mfaToken,
    expiresAt,
    methods: [
      'totp',
      ...(codesLeft > 0 ? (['recovery_code'] as const) : []),
      ...(passkeys.length > 0 ? (['passkey'] as const) : []),
    ],
  };
}

/** Whether the user's second factor was proven; a refusal delays. */
export type Proof = (tx: Repositories, user: User) => AsyncResult<boolean>;

/**
 * Completes a pending sign-in: runs `then` when the factor is proven. A wrong one is counted, and the tenth ends it.
 * Token, tries and proof are one transaction, so that none can be used twice.
 */
export const finishPendingSignIn =
  ({ repositories, inTransaction }: Storage, throttle: LoginThrottle) =>
  async <T>(
    mfaToken: string,
    origin: RequestOrigin,
    prove: Proof,
    then: (tx: Repositories, user: User, provider: ProviderSession | null) => Promise<T>,
  ): AsyncResult<T> => {
    const hash = sha256(mfaToken);
    const userId = (await repositories.pending.find(hash, 'second_factor'))?.userId ?? null;
    const attempt = { login: null, userId, origin, by: 'second factor' } as const;
    return await inTransaction(async (tx): AsyncResult<T> => {
      const locked = userId === null ? null : await tx.users.lockForSignIn(userId);
      const pending = await tx.pending.lock(hash, 'second_factor');
      const begun = await throttle.begin(tx, attempt);
      if (!begun.ok) return begun;
      const user = whoMayEnter(locked);
      if (user === null || pending === null) return refuse(await begun.value.failed(wrongWith(locked)));
      const proven = await prove(tx, user);
      if (!proven.ok) return proven;
      if (!proven.value) {
        await tx.pending.countTry(hash);
        if (pending.tries + 1 >= WAITING_TRIES) await tx.pending.spend(hash, 'second_factor');
        return refuse(await begun.value.failed());
      }
      await tx.pending.spend(hash, 'second_factor');
      await begun.value.passed();
      return ok(await then(tx, user, pending.provider));
    });
  };

const whoMayEnter = (locked: UserWithPassword | null): User | null =>
  locked === null || isDisabled(locked.user, locked.now) ? null : locked.user;

/** A pending sign-in passed the password check, so a disabled account may be the recorded reason. */
const wrongWith = (locked: UserWithPassword | null): 'disabled' | undefined =>
  locked !== null && isDisabled(locked.user, locked.now) ? 'disabled' : undefined;
