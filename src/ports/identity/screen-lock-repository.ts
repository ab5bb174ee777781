export interface ScreenLockRepository {
  passcodeHash(userId: string): Promise<string | null>;
  setPasscode(userId: string, hash: string | null): Promise<void>;
  autoLockMinutes(userId: string): Promise<number | null>;
  setAutoLock(userId: string, minutes: number | null): Promise<void>;
  lockSession(sessionId: string): Promise<void>;
  /**
   * The number of wrong passcodes, with the session locked until the transaction ends; null when it is missing or
   * revoked.
   */
  wrongPasscodes(sessionId: string): Promise<number | null>;
  countWrongPasscode(sessionId: string): Promise<void>;
  /** Unlocks it, resets the wrong passcodes, and counts as a use. */
  unlockSession(sessionId: string): Promise<void>;
}
