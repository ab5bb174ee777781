import { ok, type Result, refuse } from '../../result.ts';
import { type Invitation, isSameName } from '../people/account-link.ts';
import type { ProviderRefusal } from './provider-refusal.ts';
import { type ProviderClaims, verifiedAddress } from './provider-sign-in.ts';

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
 * one, and of an invitation for one address the invited one: whoever else gets the link has no use for it.
 */
export function decideAcceptance(
  claims: Pick<ProviderClaims, 'email' | 'emailVerified'>,
  { email: invited }: Pick<Invitation, 'email'>,
  { isConnected, addressTaken, nameTaken }: AlreadyHere,
): Result<{ readonly email: string }, ProviderRefusal> {
  if (isConnected) return refuse('provider_already_connected');
  const email = verifiedAddress(claims);
  if (email === null) return refuse('provider_email_unverified');
  if (invited !== null && !isSameName(invited, email)) return refuse('provider_other_address');
  if (addressTaken) return refuse('provider_account_exists');
  return nameTaken ? refuse('provider_name_taken') : ok({ email });
}
