import type { FieldFaults } from '../field-faults.ts';

/**
 * The screen lock of a session. It closes the session to all but unlocking, leaving and asking who it is.
 *
 *   open --lock now, or idle for auto_lock_minutes--> locked --right passcode--> open
 *                                                       '--fifth wrong passcode--> the session is revoked
 */
export type LockFacts = {
  /** When it was locked on purpose; an idle session is locked without it. */
  readonly lockedAt: Date | null;
  readonly passcodeSet: boolean;
  readonly autoLockMinutes: number | null;
};

export const WRONG_PASSCODES = 5;
export const AUTO_LOCK_MINUTES = { min: 1, max: 1440 } as const;
const PASSCODE = { min: 4, max: 64 } as const;

/** Without a passcode nothing is ever locked: nobody could open it again. */
export function sessionLocked(lock: LockFacts, lastSeenAt: Date, now: Date): boolean {
  if (!lock.passcodeSet) return false;
  if (lock.lockedAt !== null) return true;
  return locksItselfInMs(lock, lastSeenAt, now) <= 0;
}

/** Milliseconds until it locks itself if it is not used; infinite where it does not. */
export const locksItselfInMs = (
  { passcodeSet, autoLockMinutes }: LockFacts,
  lastSeenAt: Date,
  now: Date,
): number =>
  passcodeSet && autoLockMinutes !== null
    ? lastSeenAt.getTime() + autoLockMinutes * 60_000 - now.getTime()
    : Number.POSITIVE_INFINITY;

/**
 * How often a session's last use must be written, so that it is not locked much too early by one that was not. Never
 * more than the quarter of what the lock waits for, and at most `usualMs`.
 */
export const seenEveryMs = ({ autoLockMinutes }: LockFacts, usualMs: number): number =>
  autoLockMinutes === null ? usualMs : Math.min(usualMs, (autoLockMinutes * 60_000) / 4);

/** A passcode is never trimmed; 4 to 64 characters. */
export function passcodeFaults(passcode: string): FieldFaults {
  const { length } = [...passcode];
  return length >= PASSCODE.min && length <= PASSCODE.max ? {} : { passcode: 'must have 4 to 64 characters' };
}
