import type { User, UserChange, UserRole } from '../../domain/identity/user.ts';
import type { Page, PageRequest } from '../pagination.ts';

export type NewUser = {
  readonly email: string | null;
  readonly username: string;
  readonly passwordHash: string | null;
  readonly role: UserRole;
  readonly tier: string;
  readonly guestUntil: Date | null;
};

export type UserWithPassword = { readonly user: User; readonly passwordHash: string | null };

export interface UserRepository {
  /** `taken` names the field that another user has already, compared without case. */
  insert(user: NewUser): Promise<{ user: User } | { taken: 'email' | 'username' }>;
  findById(id: string): Promise<User | null>;
  /** By email or username, without case. */
  findForLogin(login: string): Promise<UserWithPassword | null>;
  /** By id, and as it is until the transaction ends: neither disabled nor given another password meanwhile. */
  lockForSignIn(id: string): Promise<UserWithPassword | null>;
  /** null when another user has that name, compared without case; a transaction cannot go on then. */
  rename(id: string, username: string): Promise<User | null>;
  /** Replaces exactly that password. False when it is another one by now. */
  changePassword(id: string, fromHash: string, toHash: string): Promise<boolean>;
  /** Newest first. */
  page(request: PageRequest): Promise<Page<User>>;
  /** Ids of the administrators that are not disabled, none of whom changes until the transaction ends. */
  lockAdmins(): Promise<readonly string[]>;
  /** Disabling again keeps the first time; null when there is no such user. */
  change(id: string, change: UserChange): Promise<User | null>;
  /** Locks the user's row until the transaction ends, so that what is counted stays true. */
  lock(id: string): Promise<void>;
}
