import type { DomainError } from '../errors.ts';
import type { FieldFaults } from '../field-faults.ts';
import { ok, type Result, refuse } from '../result.ts';
import { isUuid } from '../uuid.ts';
import { isCommonPassword, isOwnName } from './common-passwords.ts';
import { canPassForAnother, hasUnseen } from './confusable-names.ts';
import { accountEndFaults } from './people/account-end.ts';

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
  /** When the account is disabled by itself. */
  readonly endsAt: Date | null;
  /** null for all but guests. */
  readonly guestUntil: Date | null;
};

export type NewPerson = { readonly email: string; readonly username: string; readonly password: string };

/** Quotes, brackets and commas belong to mail headers, not to addresses. */
const EMAIL = /^[^\s@"(),:;<>[\\\]]+@[^\s@"(),:;<>[\\\]]+$/u;
const MAX_EMAIL = 254;
const USERNAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,38}$/;

/** Faults of a new user's text. Lengths follow OWASP and NIST SP 800-63B. */
export const personFaults = (person: NewPerson): FieldFaults => ({
  ...emailFaults(person.email),
  ...usernameFaults(person.username),
  ...passwordFaults(person.password, namesOf(person)),
});

export function emailFaults(email: string): FieldFaults {
  if (hasUnseen(email)) return { email: 'must have no spaces and no invisible characters' };
  if (!EMAIL.test(email) || email.length > MAX_EMAIL) return { email: 'must be an email address' };
  return canPassForAnother(email) ? { email: 'must not mix letters that look like others' } : {};
}

/** A username that is an id could name two users. */
export function usernameFaults(username: string): FieldFaults {
  if (!USERNAME.test(username))
    return { username: 'must be 1 to 39 letters, digits, dots, hyphens or underscores' };
  return isUuid(username) ? { username: 'must not be an id' } : {};
}

/** Names that look like the service or its operators. */
const OFFICIAL = new Set([
  ...['root', 'admin', 'admins', 'administrator', 'administrators', 'sysadmin', 'superuser', 'sudo'],
  ...['berth', 'system', 'service', 'server', 'operator', 'owner', 'staff', 'team', 'moderator'],
  ...['support', 'helpdesk', 'help', 'security', 'info', 'official', 'noreply', 'postmaster', 'daemon'],
]);

/** A guest is unknown, so its name must not look official; digits and separators do not count. */
export function guestNameFaults(username: string): FieldFaults {
  const plain = username
    .toLowerCase()
    .replace(/0/g, 'o')
    .replace(/1/g, 'i')
    .replace(/[^a-z]/g, '');
  return OFFICIAL.has(plain) ? { username: 'is reserved' } : usernameFaults(username);
}

const localPart = (email: string): string => email.split('@', 1)[0] ?? '';

/** The names by which a user is known, as far as they are given. */
export const namesOf = ({ username, email }: Pick<User, 'username' | 'email'>): readonly string[] =>
  email === null ? [username] : [username, email, localPart(email)];

/** Not trimmed; 8 to 1,024 characters; not among the first guesses. `names`: those of its user. */
export function passwordFaults(password: string, names: readonly string[]): FieldFaults {
  if (password.length < 8) return { password: 'must have at least 8 characters' };
  if (password.length > 1024) return { password: 'must have at most 1024 characters' };
  if (isOwnName(password, names)) return { password: 'must not be your name or email address' };
  return isCommonPassword(password) ? { password: 'must not be a common password' } : {};
}

/** An expired guest may read and delete, but start nothing. */
export const guestExpired = (user: User, now: Date): boolean =>
  user.guestUntil !== null && user.guestUntil <= now;

/** An administrator's change of a user; absent fields stay. */
export type UserChange = {
  readonly tier?: string;
  readonly role?: UserRole;
  readonly disabled?: boolean;
  /** What the user of a disabled account reads; enabling removes it. */
  readonly disabledReason?: string | null;
  readonly endsAt?: Date | null;
};

const MAX_DISABLED_REASON = 200;
/** The longest reason, of one line of visible text. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

function reasonFaults(reason: string | null, isDisabled: boolean): FieldFaults {
  if (reason === null) return {};
  if (!isDisabled) return { disabledReason: 'belongs to a disabled account' };
  return reason.length > MAX_DISABLED_REASON || reason.trim() === '' || UNPRINTABLE.test(reason)
    ? { disabledReason: `must be one line of 1 to ${MAX_DISABLED_REASON} characters` }
    : {};
}

/** `tiers`: the names of all. `otherAdmins`: how many enabled ones there are beside this user. */
export type UserChangeFacts = {
  readonly tiers: readonly string[];
  readonly otherAdmins: number;
  readonly now: Date;
};

/** The effective change: only what differs. The last administrator stays an enabled one. */
export function decideUserChange(
  user: User,
  change: UserChange,
  { tiers, otherAdmins, now }: UserChangeFacts,
): Result<UserChange, DomainError> {
  const { tier = user.tier, role = user.role, endsAt = user.endsAt } = change;
  const { disabled = user.disabledAt !== null } = change;
  const fields: FieldFaults = {
    ...reasonFaults(change.disabledReason ?? null, disabled),
    ...(tiers.includes(tier) ? {} : { tier: `must be one of ${tiers.join(', ')}` }),
    ...(role === 'admin' && user.guestUntil !== null ? { role: 'must be user for a guest' } : {}),
    ...endFaults(user, change, now),
  };
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  const counts = user.role === 'admin' && user.disabledAt === null;
  if (counts && otherAdmins === 0 && (role !== 'admin' || disabled)) {
    return refuse({ code: 'last_administrator' });
  }
  return ok({
    ...(tier === user.tier ? {} : { tier }),
    ...(role === user.role ? {} : { role }),
    ...(disabled === (user.disabledAt !== null) ? {} : { disabled }),
    ...(change.disabledReason === undefined || !disabled ? {} : { disabledReason: change.disabledReason }),
    ...(isSameTime(endsAt, user.endsAt) ? {} : { endsAt }),
  });
}

const isSameTime = (a: Date | null, b: Date | null): boolean => a?.getTime() === b?.getTime();

/** A passed end stays until it is changed, so that an account can be disabled, but not enabled. */
function endFaults(user: User, { role = user.role, disabled, endsAt = user.endsAt }: UserChange, now: Date) {
  if (endsAt !== null && user.guestUntil !== null) return { endsAt: 'must be null for a guest' };
  const isNew = !isSameTime(endsAt, user.endsAt) || role !== user.role || disabled === false;
  return isNew ? accountEndFaults(endsAt, role, now) : {};
}

/**
 * Whether an act makes an administrator, or changes one: it needs a confirmed sign-in, never an API token. `roles`: those
 * of the account before and after the act, as far as it has them.
 */
export const concernsAdmins = (...roles: readonly (UserRole | undefined)[]): boolean =>
  roles.includes('admin');
