/** Recovery codes of users by their SHA-256. */
export interface RecoveryCodeRepository {
  replace(userId: string, hashes: readonly Buffer[]): Promise<void>;
  /** Uses the code up. Of several at once exactly one gets true. */
  spend(userId: string, hash: Buffer): Promise<boolean>;
  left(userId: string): Promise<number>;
}
