import type { UserRemoval } from '../../../domain/identity/people/user-removal.ts';

/** Deletions of users that are not complete. */
export interface UserRemovalRepository {
  /** Does nothing when the user has one already. */
  begin(removal: UserRemoval): Promise<void>;
  find(userId: string): Promise<UserRemoval | null>;
  /** Whether one of them transfers containers to the user. */
  transfersTo(userId: string): Promise<boolean>;
  /** Oldest first. */
  list(): Promise<readonly UserRemoval[]>;
  /**
   * Deletes the user: email, credentials, keys and recordings are erased, and the name is free again. Only the row
   * stays, with the name, for the audit. False when there is no such removal.
   */
  finish(userId: string): Promise<boolean>;
}
