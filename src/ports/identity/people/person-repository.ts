import type { User } from '../../../domain/identity/user.ts';
import type { Page, PageRequest } from '../../pagination.ts';

/** Absent fields do not filter. `search`: part of a name or email, or the id, ignoring case. */
export type PersonFilter = {
  readonly role?: 'user' | 'admin';
  readonly tier?: string;
  readonly search?: string;
};

/** A user as administrators see one. */
export type Person = {
  readonly user: User;
  readonly disabledReason: string | null;
  /** The last request of a session or API token; null if there was none. */
  readonly lastSeenAt: Date | null;
  /** Live ones, and how many the tier allows. */
  readonly containers: number;
  readonly maxContainers: number;
  readonly mfaEnabled: boolean;
  /** False for guests, and until the first password is set. */
  readonly hasPassword: boolean;
  /** Being deleted: its containers go first. */
  readonly isBeingDeleted: boolean;
};

/** Queries over all users, without deleted ones. */
export interface PersonRepository {
  /** Newest first, unless requested otherwise. Throws `UnknownPage`. */
  page(request: PageRequest, filter?: PersonFilter): Promise<Page<Person>>;
  find(id: string): Promise<Person | null>;
  /** Those of the names that no user has as a username, without case; in the given order. */
  freeUsernames(names: readonly string[]): Promise<readonly string[]>;
  /** Ids of accounts that have ended and are not disabled yet, in order, from the one behind `after`; null: the first. */
  ended(after: string | null, limit: number): Promise<readonly string[]>;
}
