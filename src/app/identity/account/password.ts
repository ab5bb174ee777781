import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import { namesOf, passwordFaults } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { type Hashing, unasked } from '../limits/hashing-queue.ts';
import type { RequireRecentSignIn } from '../sign-in/reauthentication.ts';
import { endOthersOf } from './end-others.ts';
import { lockCaller } from './lock-caller.ts';

export type PasswordDeps = {
  readonly storage: Storage;
  readonly hashing: Hashing;
  readonly throttle: LoginThrottle;
  readonly confirmed: RequireRecentSignIn;
};

export type Passwords = ReturnType<typeof passwords>;

/** Without a password, the first one needs a recent sign-in or a confirmation, by `code` where a second factor is on. */
export type NewPassword = {
  readonly old: string | undefined;
  readonly wanted: string;
  readonly code: string | undefined;
};

export const passwords = ({ storage, hashing, throttle, confirmed }: PasswordDeps) => ({
  /** Sets or replaces it; ends all other sessions, pending sign-ins and open reset links in one transaction. */
  async change(caller: Caller, { old, wanted, code }: NewPassword, origin: RequestOrigin): AsyncResult<null> {
    const { user } = caller;
    const { password: fault } = passwordFaults(wanted, namesOf(user));
    if (fault !== undefined) return refuse({ code: 'validation_failed', fields: { newPassword: fault } });
    const current = (await storage.repositories.users.lockForSignIn(user.id))?.passwordHash ?? null;
    if (current === null) {
      const sure = await confirmed(caller, { code }, origin);
      return sure.ok ? await setFirst({ storage, hashing }, caller, wanted, origin) : sure;
    }
    if (old === undefined) {
      return refuse({ code: 'validation_failed', fields: { oldPassword: 'is required' } });
    }
    const hashed = await hashing.inTurn(
      { userId: user.id },
      () => throttle.codeRefused('password', user.id),
      async (hasher) => ((await hasher.verify(current, old)) ? await hasher.hash(wanted) : null),
    );
    if (!hashed.ok) return hashed;
    const replacement = hashed.value;
    return await storage.inTransaction(async (tx) => {
      // Lock the user first, as everywhere: opposite orders would deadlock.
      const present = await lockCaller(tx, caller);
      if (!present.ok) return present;
      const right = await throttle.tryCode(
        tx,
        'password',
        user.id,
        async () => replacement !== null && (await tx.users.changePassword(user.id, current, replacement)),
      );
      if (!right.ok) return right;
      if (!right.value) {
        await tx.audit.append({
          userId: user.id,
          action: 'confirmation_failed',
          ...origin,
          details: 'password',
        });
        return refuse({ code: 'wrong_password' });
      }
      await tx.audit.append({ userId: user.id, action: 'password_changed', ...origin, details: '' });
      await tx.accountLinks.withdrawFor(user.id);
      await endOthersOf(tx, caller, origin, REVOKED_FOR.passwordChanged);
      return ok(null);
    });
  },
});

async function setFirst(
  { storage, hashing }: Pick<PasswordDeps, 'storage' | 'hashing'>,
  caller: Caller,
  wanted: string,
  origin: RequestOrigin,
): AsyncResult<null> {
  const { user } = caller;
  const hashed = await hashing.inTurn({ userId: user.id }, unasked, (hasher) => hasher.hash(wanted));
  if (!hashed.ok) return hashed;
  return await storage.inTransaction(async (tx) => {
    const present = await lockCaller(tx, caller);
    if (!present.ok) return present;
    // A reset link may have set one meanwhile.
    const { passwordSet } = await tx.screenLocks.protectionOf(user.id);
    if (passwordSet) return refuse({ code: 'wrong_password' });
    await tx.users.setPassword(user.id, hashed.value);
    await tx.audit.append({ userId: user.id, action: 'password_changed', ...origin, details: '' });
    await tx.accountLinks.withdrawFor(user.id);
    await endOthersOf(tx, caller, origin, REVOKED_FOR.passwordChanged);
    return ok(null);
  });
}
