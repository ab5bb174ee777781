export interface InstallationRepository {
  /** UUID of this installation, the same for every replica. */
  id(): Promise<string>;
  /** Whether nobody has been made administrator yet. */
  setupRequired(): Promise<boolean>;
  /** Replaces the one-time code by its SHA-256; does nothing once there is an administrator. */
  setSetupCodeHash(hash: Buffer): Promise<void>;
  /** Whether this is the code that set-up waits for. */
  isSetupCode(hash: Buffer): Promise<boolean>;
  /** Uses the code up. False when it is wrong or set-up is done; of several at once exactly one gets true. */
  spendSetupCode(hash: Buffer): Promise<boolean>;
}
