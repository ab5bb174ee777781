import type { Caller, Origin } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import { passcodeFaults, WRONG_PASSCODES } from '../domain/lock.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import { REVOKED_FOR } from '../domain/session.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Repositories, Storage } from '../ports/repositories.ts';
import { endSession } from './sign-in.ts';

export type ScreenLock = ReturnType<typeof screenLock>;

type Done = Promise<Result<null, DomainError>>;

/** The passcode of a user, and locking and unlocking the session that asks. */
export type ScreenLockDeps = {
  readonly storage: Storage;
  readonly hasher: PasswordHasher;
};

export function screenLock({ storage, hasher }: ScreenLockDeps) {
  const { repositories, inTransaction } = storage;

  const withSession = (caller: Caller, work: (sessionId: string) => Done): Done =>
    caller.credential.kind === 'login'
      ? work(caller.credential.sessionId)
      : Promise.resolve(refuse({ code: 'login_token_required' }));

  return {
    async setPasscode({ user }: Caller, passcode: string, origin: Origin): Done {
      const fields = passcodeFaults(passcode);
      if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
      const hash = await hasher.hash(passcode);
      await inTransaction(async (tx) => {
        await tx.screenLocks.setPasscode(user.id, hash);
        await tx.audit.append({ userId: user.id, action: 'passcode_changed', ...origin, details: '' });
      });
      return ok(null);
    },

    /** Without a passcode nothing locks any more; removing what is not there is success. */
    async removePasscode({ user }: Caller, origin: Origin): Promise<void> {
      await inTransaction(async (tx) => {
        if ((await tx.screenLocks.passcodeHash(user.id)) === null) return;
        await tx.screenLocks.setPasscode(user.id, null);
        await tx.audit.append({ userId: user.id, action: 'passcode_removed', ...origin, details: '' });
      });
    },

    lock: (caller: Caller, origin: Origin): Done =>
      withSession(caller, (sessionId) =>
        inTransaction((tx) => lockNow(tx, caller.user.id, sessionId, origin)),
      ),

    /** The fifth wrong passcode ends the session. An open session is asked as well: a wrong one is never a success. */
    unlock: (caller: Caller, passcode: string, origin: Origin): Done =>
      withSession(caller, async (sessionId) => {
        const hash = await repositories.screenLocks.passcodeHash(caller.user.id);
        if (hash === null) return refuse({ code: 'passcode_not_set' });
        const right = await hasher.verify(hash, passcode);
        return await inTransaction((tx) => settle(tx, caller.user.id, sessionId, right, origin));
      }),
  };
}

async function lockNow(tx: Repositories, userId: string, sessionId: string, origin: Origin): Done {
  if ((await tx.screenLocks.passcodeHash(userId)) === null) return refuse({ code: 'passcode_not_set' });
  await tx.screenLocks.lockSession(sessionId);
  await tx.audit.append({ userId, action: 'screen_locked', ...origin, details: sessionId });
  return ok(null);
}

/** Tries that came at the same time are taken one after the other: none after the fifth wrong one counts. */
async function settle(
  tx: Repositories,
  userId: string,
  sessionId: string,
  right: boolean,
  origin: Origin,
): Done {
  const wrong = await tx.screenLocks.wrongPasscodes(sessionId);
  if (wrong === null) return refuse({ code: 'unauthorized' });
  if (right) {
    await tx.screenLocks.unlockSession(sessionId);
    await tx.audit.append({ userId, action: 'screen_unlocked', ...origin, details: sessionId });
    return ok(null);
  }
  await tx.screenLocks.countWrongPasscode(sessionId);
  await tx.audit.append({ userId, action: 'screen_unlock_failed', ...origin, details: sessionId });
  if (wrong + 1 >= WRONG_PASSCODES) {
    await endSession(tx, { id: sessionId, userId }, REVOKED_FOR.wrongPasscodes, origin);
  }
  return refuse({ code: 'wrong_passcode' });
}
