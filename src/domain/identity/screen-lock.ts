import type { FieldFaults } from '../field-faults.ts';

/**
 * A session's screen lock. Locked, it allows only unlocking, signing out and asking who the user is.
 *
 *   open --lock now, or idle for auto_lock_minutes--> locked --right passcode--> open
 *                                                       '--fifth wrong passcode--> the session is revoked
 */
export type LockFacts = {
  /** When the user locked it; an idle session is locked without. */
  readonly lockedAt: Date | null;
  readonly passcodeSet: boolean;
  readonly autoLockMinutes: number | null;
};

export const WRONG_PASSCODES = 5;
export const AUTO_LOCK_MINUTES = { min: 1, max: 1440 } as const;
const PASSCODE = { min: 4, max: 64 } as const;

/** Without a passcode nothing is locked: no one could unlock it. */
export function sessionLocked(lock: LockFacts, lastSeenAt: Date, now: Date): boolean {
  if (!lock.passcodeSet) return false;
  if (lock.lockedAt !== null) return true;
  return locksItselfInMs(lock, lastSeenAt, now) <= 0;
}

/** Milliseconds until an unused session locks; infinite if it never does. */
export const locksItselfInMs = (
  { passcodeSet, autoLockMinutes }: LockFacts,
  lastSeenAt: Date,
  now: Date,
): number =>
  passcodeSet && autoLockMinutes !== null
    ? lastSeenAt.getTime() + autoLockMinutes * 60_000 - now.getTime()
    : Number.POSITIVE_INFINITY;

/**
 * How often to write a session's last use, so that an unwritten use does not lock it much too early: a quarter of its
 * idle time, at most `usualMs`.
 */
export const seenEveryMs = ({ autoLockMinutes }: LockFacts, usualMs: number): number =>
  autoLockMinutes === null ? usualMs : Math.min(usualMs, (autoLockMinutes * 60_000) / 4);

/** Not trimmed; 4 to 64 characters. */
export function passcodeFaults(passcode: string): FieldFaults {
  const { length } = [...passcode];
  return length >= PASSCODE.min && length <= PASSCODE.max ? {} : { passcode: 'must have 4 to 64 characters' };
}
