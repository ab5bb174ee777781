import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { passcodeFaults, WRONG_PASSCODES } from '../../../domain/identity/screen-lock.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { PasswordHasher } from '../../../ports/identity/password-hasher.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { Hashing } from '../limits/hashing-queue.ts';
import { endSession } from '../sign-in/sign-in.ts';
import { lockCaller } from './lock-caller.ts';

export type ScreenLock = ReturnType<typeof screenLock>;

type Done = AsyncResult<null>;

type Try = {
  readonly caller: Caller;
  readonly userId: string;
  readonly sessionId: string;
  readonly origin: RequestOrigin;
};

export type ScreenLockDeps = {
  readonly storage: Storage;
  readonly hashing: Hashing;
};

/** A user's passcode, and locking and unlocking the caller's session. */
export const screenLock = (deps: ScreenLockDeps) => ({
  setPasscode: (
    caller: Caller,
    passcode: string,
    current: string | undefined,
    origin: RequestOrigin,
  ): Done => {
    const fields = passcodeFaults(passcode);
    if (Object.keys(fields).length > 0) return Promise.resolve(refuse({ code: 'validation_failed', fields }));
    return withSession(caller, origin, (one) => replacePasscode(deps, one, passcode, current));
  },

  /** Without a passcode nothing locks. Removing an absent one succeeds. */
  removePasscode: (caller: Caller, current: string | undefined, origin: RequestOrigin): Done =>
    withSession(caller, origin, (one) => replacePasscode(deps, one, null, current)),

  lock: (caller: Caller, origin: RequestOrigin): Done =>
    withSession(caller, origin, (one) => deps.storage.inTransaction((tx) => lockNow(tx, one))),

  /** The fifth wrong passcode ends the session. An unlocked session needs the right one too. */
  unlock: (caller: Caller, passcode: string, origin: RequestOrigin): Done =>
    withSession(caller, origin, (one) => unlock(deps, one, passcode)),
});

const withSession = (caller: Caller, origin: RequestOrigin, work: (one: Try) => Done): Done =>
  caller.credential.kind === 'login'
    ? work({ caller, userId: caller.user.id, sessionId: caller.credential.sessionId, origin })
    : Promise.resolve(refuse({ code: 'login_token_required' }));

/** Replaces the current passcode, which is then required; null removes it. */
async function replacePasscode(
  deps: ScreenLockDeps,
  one: Try,
  wanted: string | null,
  given: string | undefined,
): Done {
  const current = await deps.storage.repositories.screenLocks.passcodeHash(one.userId);
  if (current === null && wanted === null) return ok(null);
  if (current !== null && given === undefined) {
    return refuse({ code: 'confirmation_required', by: 'current_passcode' });
  }
  const hashed = await inTurn(deps, one, async (hasher) => {
    const right = current === null || (await hasher.verify(current, given ?? ''));
    return { right, hash: right && wanted !== null ? await hasher.hash(wanted) : null };
  });
  if (!hashed.ok) return hashed;
  const { right, hash } = hashed.value;
  return await deps.storage.inTransaction((tx) => storePasscode(tx, one, { current, right, hash }));
}

type NewPasscode = { readonly current: string | null; readonly right: boolean; readonly hash: string | null };

async function storePasscode(tx: Repositories, one: Try, { current, right, hash }: NewPasscode): Done {
  const { caller, userId, origin } = one;
  // A passcode that others set would lock the user's own sessions.
  const present = await lockCaller(tx, caller);
  if (!present.ok) return present;
  const isSame = (await tx.screenLocks.passcodeHash(userId)) === current;
  const settled = await recordAttempt(tx, one, right && isSame, 'confirmation_failed');
  if (!settled.ok) return settled;
  await tx.screenLocks.setPasscode(userId, hash);
  const action = hash === null ? 'passcode_removed' : 'passcode_changed';
  await tx.audit.append({ userId, action, ...origin, details: '' });
  return ok(null);
}

async function unlock(deps: ScreenLockDeps, one: Try, passcode: string): Done {
  const { repositories, inTransaction } = deps.storage;
  const hash = await repositories.screenLocks.passcodeHash(one.userId);
  if (hash === null) return refuse({ code: 'passcode_not_set' });
  const right = await inTurn(deps, one, (hasher) => hasher.verify(hash, passcode));
  if (!right.ok) return right;
  return await inTransaction(async (tx) => {
    const settled = await recordAttempt(tx, one, right.value, 'screen_unlock_failed');
    if (settled.ok) await record(tx, one, 'screen_unlocked');
    return settled;
  });
}

/** If the session ended during the wait, nothing is hashed. */
function inTurn<T>(
  { storage, hashing }: ScreenLockDeps,
  { userId, sessionId }: Try,
  work: (hasher: PasswordHasher) => Promise<T>,
): AsyncResult<T> {
  const { screenLocks } = storage.repositories;
  const ended = async (): Promise<DomainError | null> =>
    (await screenLocks.wrongPasscodes(sessionId)) === null ? { code: 'unauthorized' } : null;
  return hashing.inTurn({ userId }, ended, work);
}

const record = (
  tx: Repositories,
  { userId, sessionId, origin }: Try,
  action: 'screen_locked' | 'screen_unlocked' | 'screen_unlock_failed',
): Promise<void> => tx.audit.append({ userId, action, ...origin, details: sessionId });

async function lockNow(tx: Repositories, one: Try): Done {
  if ((await tx.screenLocks.passcodeHash(one.userId)) === null) return refuse({ code: 'passcode_not_set' });
  await tx.screenLocks.lockSession(one.sessionId);
  await record(tx, one, 'screen_locked');
  return ok(null);
}

/**
 * Unlocks the session, or counts a wrong passcode. Concurrent attempts run in turn: none after the fifth wrong one
 * counts.
 */
async function recordAttempt(
  tx: Repositories,
  one: Try,
  right: boolean,
  failure: 'screen_unlock_failed' | 'confirmation_failed',
): Done {
  const { userId, sessionId, origin } = one;
  const wrong = await tx.screenLocks.wrongPasscodes(sessionId);
  if (wrong === null) return refuse({ code: 'unauthorized' });
  if (right) {
    await tx.screenLocks.unlockSession(sessionId);
    return ok(null);
  }
  await tx.screenLocks.countWrongPasscode(sessionId);
  if (failure === 'screen_unlock_failed') await record(tx, one, failure);
  else await tx.audit.append({ userId, action: failure, ...origin, details: 'passcode' });
  if (wrong + 1 >= WRONG_PASSCODES) {
    await endSession(tx, { id: sessionId, userId }, REVOKED_FOR.wrongPasscodes, origin);
  }
  return refuse({ code: 'wrong_passcode' });
}
