import type { ProviderRefusal } from '../../domain/identity/openid/provider-refusal.ts';

/** Causes other than a wrong secret. */
const SIGN_IN_FAULTS = {
  disabled: 'disabled',
  provider_sign_in_expired: 'an expired, used or foreign answer of the provider',
  provider_denied: 'the provider refused',
  provider_rejected: "the provider's answer was not valid",
  provider_unavailable: 'the provider did not respond',
  provider_email_unverified: 'the provider has not verified the email address',
  provider_no_account: 'no account for the person at the provider',
  provider_account_exists: 'the address at the provider belongs to another account',
  provider_other_address: 'the invitation is for another address',
  provider_already_connected: 'the person at the provider has an account already',
  provider_name_taken: 'the username of the invitation is in use',
  provider_not_asked: 'the provider did not ask who it is',
  link_not_valid: 'the invitation was used or withdrawn, or has expired',
} as const satisfies Record<ProviderRefusal | 'disabled', string>;

/** The sentence for a sign-in that failed. `cause`: a wrong secret's name, or another fault. */
export function failedSignIn(cause: string): string {
  const words = Object.hasOwn(SIGN_IN_FAULTS, cause) ? SIGN_IN_FAULTS[cause as 'disabled'] : null;
  return words === null ? `Failed to sign in: wrong ${cause}` : `Could not sign in: ${words}`;
}
