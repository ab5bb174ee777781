import type { FieldFaults } from './resources.ts';

export type UserRole = 'user' | 'admin';

export type User = {
  readonly id: string;
  /** null for guests. */
  readonly email: string | null;
  readonly username: string;
  readonly role: UserRole;
  readonly tier: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  /** End of a guest's life; null for everyone else. */
  readonly guestUntil: Date | null;
};

export type NewPerson = { readonly email: string; readonly username: string; readonly password: string };

const EMAIL = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;
const USERNAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,38}$/;

/** Faults of the text that a new user gives, by wire field. Lengths follow OWASP's and NIST SP 800-63B's advice. */
export function personFaults(person: NewPerson): FieldFaults {
  return {
    ...(EMAIL.test(person.email) && person.email.length <= 254 ? {} : { email: 'must be an email address' }),
    ...usernameFaults(person.username),
    ...passwordFaults(person.password),
  };
}

export const usernameFaults = (username: string): FieldFaults =>
  USERNAME.test(username)
    ? {}
    : { username: 'must be 1 to 39 letters, digits, dots, hyphens or underscores' };

/** A password is never trimmed; 8 to 1,024 characters. */
export function passwordFaults(password: string): FieldFaults {
  return password.length >= 8 && password.length <= 1024
    ? {}
    : { password: 'must have 8 to 1024 characters' };
}

/** A guest whose time is over may read and delete, but start nothing. */
export const guestExpired = (user: User, now: Date): boolean =>
  user.guestUntil !== null && user.guestUntil <= now;
