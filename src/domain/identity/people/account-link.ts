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
  /** The only address and the only name that may accept it; null for any. */
  readonly email: string | null;
  readonly username: string | null;
  /** When the account that it makes will end. */
  readonly accountEndsAt: Date | null;
};

/** What a reset replaces. */
export type ResetKind = 'password' | 'second_factor';

export type LinkPurpose =
  /** Makes an account. `madeUserId`: that account, once the link is used. */
  | ({ readonly kind: 'invitation'; readonly madeUserId: string | null } & Invitation)
  /** Replaces a password, or removes a second factor. */
  | { readonly kind: ResetKind; readonly userId: string };

export type LinkKind = LinkPurpose['kind'];
export type LinkState = 'open' | 'used' | 'withdrawn' | 'expired';

export const INVITATION_HOURS = 168;
export const RESET_HOURS = 24;
/** How long the link for a first password lasts. */
export const FIRST_PASSWORD_HOURS = 168;
/** The limit of open links of all administrators. */
export const MAX_OPEN_LINKS = 1_000;
/** How long a link is listed after its end. */
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

/** Faults of what an account will be. `email` and `username` are null when the user chooses them. */
export const accountFaults = (
  { tier, email, username }: Pick<Invitation, 'tier' | 'email' | 'username'>,
  tiers: readonly string[],
): FieldFaults => ({
  ...(tiers.includes(tier) ? {} : { tier: `must be one of ${tiers.join(', ')}` }),
  ...(email === null ? {} : emailFaults(email)),
  ...(username === null ? {} : usernameFaults(username)),
});

/** Whether two addresses or names are the same, in any form of their letters. */
export const isSameName = (a: string, b: string): boolean =>
  comparable(a).toLowerCase() === comparable(b).toLowerCase();

/** Faults of what the accepting person entered: an invitation may be for one address or name only. */
export const acceptFaults = (
  { email, username }: Invitation,
  entered: { readonly email: string; readonly username: string },
): FieldFaults => ({
  ...(email === null || isSameName(email, entered.email)
    ? {}
    : { email: `must be ${email}, which was invited` }),
  ...(username === null || isSameName(username, entered.username)
    ? {}
    : { username: `must be ${username}, which was invited` }),
});
