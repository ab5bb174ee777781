/** Why a provider's sign-in opens nothing; also the audit's reasons. */
export type ProviderRefusal =
  | 'provider_sign_in_expired'
  | 'provider_denied'
  | 'provider_rejected'
  | 'provider_unavailable'
  | 'provider_email_unverified'
  | 'provider_no_account'
  | 'provider_account_exists'
  /** Of an invitation that a person at the provider accepts. */
  | 'provider_other_address'
  | 'provider_already_connected'
  | 'provider_name_taken'
  | 'provider_not_asked'
  | 'link_not_valid';

/** Why a browser comes back from the provider to the page without a sign-in. */
export type ReturnRefusal = ProviderRefusal | 'provider_not_set_up' | 'rate_limited';
