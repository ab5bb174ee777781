import type { ReturnRefusal } from '../../../../src/domain/identity/openid/provider-refusal.ts';

/** Why the OpenID provider opened nothing, and what to do next. A new refusal without words does not compile. */
export const PROVIDER_WORDS = {
  provider_sign_in_expired:
    'This sign-in is no longer valid. It took too long, was used already, or began in another browser. Start again.',
  provider_denied:
    'The provider refused. The sign-in was cancelled, or you may not use Berth there. Try again, or ask an administrator.',
  provider_rejected:
    "The provider's answer was not valid. Start again. If this keeps happening, an administrator can find the cause in the server log.",
  provider_unavailable: 'The provider does not respond. Try again, or sign in another way.',
  provider_email_unverified:
    'The provider has not verified your email address. Verify it there, then try again.',
  provider_no_account: 'You have no account here. Ask an administrator for one.',
  provider_account_exists:
    'An account with your email address exists already. Sign in to it another way, then connect the provider in Settings, under Security.',
  provider_other_address:
    'This invitation is for another email address. Sign in at the provider with that address, or ask your administrator for a new invitation.',
  provider_already_connected:
    'You have an account here already. Sign in with the provider: you need no invitation.',
  provider_name_taken:
    'The username of this invitation is in use already. Ask your administrator for a new invitation.',
  provider_not_asked:
    'The provider did not ask who you are. Sign out there and try again, or ask your administrator for an invitation for your email address.',
  provider_not_set_up: 'No provider is set up here. Sign in another way.',
  link_not_valid:
    'This link is not valid. It was used or withdrawn, has expired, or is incomplete. Ask your administrator for a new one.',
  rate_limited: 'Too many attempts. {wait}',
} as const satisfies Readonly<Record<ReturnRefusal, string>>;
