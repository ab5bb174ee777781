import { ok, type Result, refuse } from '../../result.ts';
import type { Settings } from '../../settings.ts';
import { emailFaults, type User, usernameFaults } from '../user.ts';
import type { ConnectedIdentity } from './connected-identity.ts';
import type { ProviderRefusal } from './provider-refusal.ts';

export const PROVIDER_SIGN_IN_MINUTES = 10;

/** The page that completes a sign-in, or shows why it failed. */
export const PROVIDER_PAGE = '/sign-in/provider';

/** What a verified ID token says. */
export type ProviderClaims = {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** The name that the person prefers. */
  readonly username: string | null;
  readonly sid: string | null;
  readonly authTime: Date | null;
};

/** What administrators decide about first sign-ins. */
export type FirstSignIn = Pick<Settings, 'oidcCreateAccounts' | 'oidcMatchByEmail'>;

export type Arrival =
  | { readonly kind: 'known'; readonly identity: ConnectedIdentity }
  /** The first sign-in to an account that nobody has opened. */
  | { readonly kind: 'match'; readonly user: User }
  | { readonly kind: 'create'; readonly email: string };

type Known = {
  readonly identity: ConnectedIdentity | null;
  /** `opened`: somebody has a way in already, who may be another person than the one at the provider. */
  readonly byAddress: { readonly user: User; readonly opened: boolean } | null;
};

/**
 * Whose account a provider's sign-in opens. An unknown person needs a verified address, and gets neither an
 * administrator's account nor one that somebody has opened: its owner connects the sign-in in the settings.
 */
export function decideArrival(
  claims: Pick<ProviderClaims, 'email' | 'emailVerified'>,
  { identity, byAddress }: Known,
  { oidcCreateAccounts, oidcMatchByEmail }: FirstSignIn,
): Result<Arrival, ProviderRefusal> {
  if (identity !== null) return ok({ kind: 'known', identity });
  if (!oidcCreateAccounts && !oidcMatchByEmail) return refuse('provider_no_account');
  const email = verifiedAddress(claims);
  if (email === null) return refuse('provider_email_unverified');
  if (byAddress !== null) {
    const { user, opened } = byAddress;
    const may = oidcMatchByEmail && user.role !== 'admin' && !opened;
    return may ? ok({ kind: 'match', user }) : refuse('provider_account_exists');
  }
  return oidcCreateAccounts ? ok({ kind: 'create', email }) : refuse('provider_no_account');
}

/** The address that the provider has verified; null without one, or when it is no address. */
export const verifiedAddress = ({
  email,
  emailVerified,
}: Pick<ProviderClaims, 'email' | 'emailVerified'>): string | null =>
  email !== null && emailVerified && Object.keys(emailFaults(email)).length === 0 ? email : null;

const MAX_NAME = 32;

/** A valid username close to what the provider says; null when nothing of it fits. */
export function usernameFrom(wanted: string | null, email: string): string | null {
  const [local = ''] = (wanted ?? email).split('@', 1);
  const plain = local
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-zA-Z0-9._-]+/g, '-')
    .replace(/^[^a-zA-Z0-9]+/, '')
    .slice(0, MAX_NAME);
  return Object.keys(usernameFaults(plain)).length > 0 ? null : plain;
}

const SIMILAR = 8;

/** Names to suggest instead of one that is taken. */
export const similarUsernames = (name: string): readonly string[] =>
  Array.from({ length: SIMILAR }, (_, at) => `${name}-${at + 2}`);

/** Clocks of a provider and ours may differ. */
const CLOCK_TOLERANCE_MS = 30_000;

/** Whether the person signed in at the provider again, after we asked for it. */
export const signedInAgain = ({ authTime }: Pick<ProviderClaims, 'authTime'>, startedAt: Date): boolean =>
  authTime !== null && authTime.getTime() >= startedAt.getTime() - CLOCK_TOLERANCE_MS;

const MAX_PATH = 512;

/** A path of this service; anything that a browser could take for another origin becomes `/`. */
export function safeReturnPath(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > MAX_PATH) return '/';
  // Browsers read a backslash as a slash, and skip control characters.
  return /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(wanted) ? wanted : '/';
}
