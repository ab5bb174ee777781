import { ok, type Result, refuse } from '../../result.ts';
import { type Invitation, isSameName } from '../people/account-link.ts';
import type { ProviderRefusal } from './provider-refusal.ts';
import { type ProviderClaims, signedInAgain, verifiedAddress } from './provider-sign-in.ts';

/** Accounts that exist already. */
export type AlreadyHere = {
  /** The person's. */
  readonly isConnected: boolean;
  /** With the provider's address. */
  readonly addressTaken: boolean;
  /** With the invitation's username. */
  readonly nameTaken: boolean;
};

/**
 * Whether a person at a provider may accept an invitation, and the address of the new account. That is always a verified
 * one, and of an invitation for one address the invited one: anyone else who gets the link has no use for it. The person
 * must have signed in again since `startedAt`, or the account could be of somebody else who is signed in there. Where the
 * provider does not say when that was, the invited address must.
 */
export function decideAcceptance(
  claims: Pick<ProviderClaims, 'email' | 'emailVerified' | 'authTime'>,
  { email: invited }: Pick<Invitation, 'email'>,
  { isConnected, addressTaken, nameTaken }: AlreadyHere,
  startedAt: Date,
): Result<{ readonly email: string }, ProviderRefusal> {
  if (isConnected) return refuse('provider_already_connected');
  const email = verifiedAddress(claims);
  if (email === null) return refuse('provider_email_unverified');
  if (invited !== null && !isSameName(invited, email)) return refuse('provider_other_address');
  const isSure = claims.authTime === null ? invited !== null : signedInAgain(claims, startedAt);
  if (!isSure) return refuse('provider_not_asked');
  if (addressTaken) return refuse('provider_account_exists');
  return nameTaken ? refuse('provider_name_taken') : ok({ email });
}
