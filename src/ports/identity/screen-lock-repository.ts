/** The passcode and auto-lock of a user, and the lock of a session. */
export interface ScreenLockRepository {
  passcodeHash(userId: string): Promise<string | null>;
  /** null for none. */
  setPasscode(userId: string, hash: string | null): Promise<void>;
  autoLockMinutes(userId: string): Promise<number | null>;
  setAutoLock(userId: string, minutes: number | null): Promise<void>;
  lockSession(sessionId: string): Promise<void>;
  /** Wrong passcodes so far, the session locked until the transaction ends; null when it is not there or revoked. */
  wrongPasscodes(sessionId: string): Promise<number | null>;
  countWrongPasscode(sessionId: string): Promise<void>;
  /** Opens it, forgets the wrong passcodes, and counts as a use. */
  unlockSession(sessionId: string): Promise<void>;
}
