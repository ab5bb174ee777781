import type { UserRemoval } from '../../../domain/identity/people/user-removal.ts';

/** Deletions of users that are not complete. */
export interface UserRemovalRepository {
  /** An earlier one of the user stays as it is. */
  begin(removal: UserRemoval): Promise<void>;
  find(userId: string): Promise<UserRemoval | null>;
  /** Oldest first. */
  list(): Promise<readonly UserRemoval[]>;
  /**
   * Deletes the user: what identifies and opens the account is erased, its recordings and keys are removed, and the name
   * is free again. Only the row stays, with the name, for the audit. False when there is no such removal.
   */
  finish(userId: string): Promise<boolean>;
}
