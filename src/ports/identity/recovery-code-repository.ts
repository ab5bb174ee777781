/** Users' recovery codes, by their SHA-256. */
export interface RecoveryCodeRepository {
  replace(userId: string, hashes: readonly Buffer[]): Promise<void>;
  /** Uses the code up: exactly one of several concurrent calls returns true. */
  spend(userId: string, hash: Buffer): Promise<boolean>;
  left(userId: string): Promise<number>;
}
