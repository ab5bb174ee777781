import type { FieldFaults } from '../../field-faults.ts';
import { comparable } from '../confusable-names.ts';
import { emailFaults, type UserRole, usernameFaults } from '../user.ts';

/**
 * A link that an administrator makes and one person opens, once:
 *
 *   open --use--> used        open --withdraw--> withdrawn        open --its time passes--> expired
 */
export type AccountLink = {
  readonly id: string;
  readonly purpose: LinkPurpose;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  readonly withdrawnAt: Date | null;
};

export type Invitation = {
  readonly role: UserRole;
  readonly tier: string;
  /** The only address, or name, that may accept it; null: any. */
  readonly email: string | null;
  readonly username: string | null;
};

/** What a reset replaces. */
export type ResetKind = 'password' | 'second_factor';

export type LinkPurpose =
  /** Makes an account. `madeUserId`: once it is used. */
  | ({ readonly kind: 'invitation'; readonly madeUserId: string | null } & Invitation)
  /** Changes how the account is opened. */
  | { readonly kind: ResetKind; readonly userId: string };

export type LinkKind = LinkPurpose['kind'];
export type LinkState = 'open' | 'used' | 'withdrawn' | 'expired';

export const INVITATION_HOURS = 168;
export const RESET_HOURS = 24;
/** The first password of an account that an administrator made. */
export const FIRST_PASSWORD_HOURS = 168;
/** Of all administrators together. */
export const MAX_OPEN_LINKS = 1_000;
/** How long a link stays in its list after its end. */
export const ENDED_LINKS_LISTED_DAYS = 30;

/** `now` is the database's clock. */
export function linkState(
  { usedAt, withdrawnAt, expiresAt }: Pick<AccountLink, 'usedAt' | 'withdrawnAt' | 'expiresAt'>,
  now: Date,
): LinkState {
  if (usedAt !== null) return 'used';
  if (withdrawnAt !== null) return 'withdrawn';
  return expiresAt <= now ? 'expired' : 'open';
}

/** Faults of what an administrator says about a future account; null: left to its user. */
export function invitationFaults(
  { tier, email, username }: Omit<Invitation, 'role'>,
  tiers: readonly string[],
): FieldFaults {
  return {
    ...(tiers.includes(tier) ? {} : { tier: `must be one of ${tiers.join(', ')}` }),
    ...(email === null ? {} : emailFaults(email)),
    ...(username === null ? {} : usernameFaults(username)),
  };
}

/** Faults of what was entered by the person who accepts: a bound invitation is for one address, or name. */
export function acceptFaults(
  { email, username }: Invitation,
  entered: { readonly email: string; readonly username: string },
): FieldFaults {
  const same = (a: string, b: string): boolean => comparable(a).toLowerCase() === comparable(b).toLowerCase();
  return {
    ...(email === null || same(email, entered.email) ? {} : { email: `must be ${email}, which was invited` }),
    ...(username === null || same(username, entered.username)
      ? {}
      : { username: `must be ${username}, which was invited` }),
  };
}
