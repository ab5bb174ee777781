/** What a user has set up to sign in and to lock. */
export type AccountProtection = {
  /** False for a user who signs in by a provider alone. */
  readonly passwordSet: boolean;
  readonly mfaEnabled: boolean;
  readonly passcodeSet: boolean;
  readonly autoLockMinutes: number | null;
};

export interface ScreenLockRepository {
  passcodeHash(userId: string): Promise<string | null>;
  setPasscode(userId: string, hash: string | null): Promise<void>;
  /** In one round trip. */
  protectionOf(userId: string): Promise<AccountProtection>;
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
