import { coalescedByKey } from '../../../concurrency/coalesce.ts';
import { type Caller, isLocked, type RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestNameFaults, type User, usernameFaults } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { AccountProtection } from '../../../ports/identity/screen-lock-repository.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import type { RequestLimits } from '../limits/request-limits.ts';

/** Changes per user and minute. Each makes a record. */
const CHANGES_PER_USER = 30;

export type Profile = AccountProtection & { readonly user: User; readonly locked: boolean };

export type ProfileChange = { readonly username?: string; readonly autoLockMinutes?: number | null };

export type Profiles = ReturnType<typeof profiles>;

export function profiles({ repositories, inTransaction }: Storage, limits: Pick<RequestLimits, 'admit'>) {
  const protectionOf = coalescedByKey((userId) => repositories.screenLocks.protectionOf(userId));

  const read = async (caller: Caller, user: User = caller.user): Promise<Profile> => ({
    user,
    locked: isLocked(caller),
    ...(await protectionOf(user.id)),
  });

  return {
    read: (caller: Caller): Promise<Profile> => read(caller),

    /** The screen lock protects the person at the screen: a token must not loosen it. */
    async change(
      { username, autoLockMinutes }: ProfileChange,
      caller: Caller,
      origin: RequestOrigin,
    ): AsyncResult<Profile> {
      const { user, credential } = caller;
      const faultsOf = user.guestUntil === null ? usernameFaults : guestNameFaults;
      const fields = username === undefined ? {} : faultsOf(username);
      if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
      if (autoLockMinutes !== undefined && credential.kind !== 'login') {
        return refuse({ code: 'login_token_required' });
      }
      if (username === undefined && autoLockMinutes === undefined) return ok(await read(caller));
      const admitted = limits.admit(`profile of ${user.id}`, CHANGES_PER_USER);
      if (!admitted.ok) return admitted;
      const changed = await orRollBack(inTransaction, async (tx) => {
        const renamed = username === undefined ? user : await tx.users.rename(user.id, username);
        if (renamed === null) {
          return refuse({ code: 'validation_failed', fields: { username: 'is already in use' } });
        }
        if (autoLockMinutes !== undefined) await tx.screenLocks.setAutoLock(user.id, autoLockMinutes);
        const details = JSON.stringify({ username, auto_lock_minutes: autoLockMinutes });
        await tx.audit.append({ userId: user.id, action: 'user_updated', ...origin, details });
        return ok(renamed);
      });
      return changed.ok ? ok(await read(caller, changed.value)) : changed;
    },
  };
}
