export interface InstallationRepository {
  /** UUID of this installation, the same for every replica. */
  id(): Promise<string>;
  /** Whether there is no administrator yet. */
  setupRequired(): Promise<boolean>;
  /** Replaces the one-time code's SHA-256; does nothing once there is an administrator. */
  setSetupCodeHash(hash: Buffer): Promise<void>;
  isSetupCode(hash: Buffer): Promise<boolean>;
  /**
   * Uses the code up. False when it is wrong or set-up is done; exactly one of several concurrent calls returns true.
   */
  spendSetupCode(hash: Buffer): Promise<boolean>;
}
