export interface InstallationRepository {
  /** UUID of this installation, the same for every replica. */
  id(): Promise<string>;
  /** The id of the Swarm that has the containers; null before the first use of one, and for none. */
  swarmId(): Promise<string | null>;
  /** Whether an administrator has chosen that no Swarm is used. */
  hasLeftSwarms(): Promise<boolean>;
  /** Whether there are containers, besides machines that people have joined. */
  hasContainers(): Promise<boolean>;
  /** Records the Swarm if none was ever recorded. Returns the id of the recorded one; null when Swarms were left. */
  recordSwarm(id: string): Promise<string | null>;
  /** Records another Swarm, or none, for an administrator who leaves the containers of the recorded one behind. */
  changeSwarm(id: string | null): Promise<void>;
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
