import type { User, UserChange, UserRole } from '../../domain/identity/user.ts';

export type NewUser = {
  readonly email: string | null;
  readonly username: string;
  readonly passwordHash: string | null;
  readonly role: UserRole;
  readonly tier: string;
  readonly guestUntil: Date | null;
  readonly endsAt: Date | null;
};

/** `now` is the database's clock. */
export type UserWithPassword = {
  readonly user: User;
  readonly passwordHash: string | null;
  readonly disabledReason: string | null;
  readonly now: Date;
};

export interface UserRepository {
  /** `taken` names a field that another user already has, compared without case. */
  insert(user: NewUser): Promise<{ user: User } | { taken: 'email' | 'username' }>;
  /** null for a deleted user, too. */
  findById(id: string): Promise<User | null>;
  /** By email or username, without case. */
  findForLogin(login: string): Promise<UserWithPassword | null>;
  /** By id, locked until the transaction ends: neither disabled nor given another password meanwhile. */
  lockForSignIn(id: string): Promise<UserWithPassword | null>;
  /** null when another user has that name, compared without case; the transaction has then failed. */
  rename(id: string, username: string): Promise<User | null>;
  /** Replaces exactly that password. False when it has changed. */
  changePassword(id: string, fromHash: string, toHash: string): Promise<boolean>;
  /** Sets the password, even if there was none. */
  setPassword(id: string, hash: string): Promise<void>;
  /** Ids of the enabled administrators, locked until the transaction ends. */
  lockAdmins(): Promise<readonly string[]>;
  /** Disabling twice keeps the first time; null when there is no such user. */
  change(id: string, change: UserChange): Promise<User | null>;
  /** Locks the user's row until the transaction ends, so that counts stay exact. False when the user is deleted. */
  lock(id: string): Promise<boolean>;
}
