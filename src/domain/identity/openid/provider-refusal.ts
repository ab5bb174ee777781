/** Why a provider's sign-in opens nothing; also the audit's reasons. */
export type ProviderRefusal =
  | 'provider_sign_in_expired'
  | 'provider_denied'
  | 'provider_rejected'
  | 'provider_unavailable'
  | 'provider_email_unverified'
  | 'provider_no_account'
  | 'provider_account_exists';
