import { type Explanation, inTwo } from '../api/explain.ts';

const GOES_ON = 'Your programs keep running.';

const ENDS: Readonly<Record<string, string>> = {
  revoked: `You were signed out. This session was ended from another browser. ${GOES_ON}`,
  password_changed: `You were signed out. Your password was changed from another browser, which ends all other sessions. ${GOES_ON}`,
  account_reset: `You were signed out. Your password or second factor was reset by a link from an administrator. ${GOES_ON}`,
  provider_signed_out: `You were signed out. The provider that you signed in with has ended your session there. ${GOES_ON}`,
  user_disabled: `Your account is disabled. An administrator has disabled it and can enable it again. ${GOES_ON}`,
  refresh_token_reused: `You were signed out as a precaution. This session was used from two places at once, so it may have been copied. ${GOES_ON} If that was not you, change your password.`,
  too_many_wrong_passcodes: `You were signed out. A wrong passcode was entered five times in a row. ${GOES_ON}`,
  expired: `Your session has expired. You were inactive for too long, or signed in too long ago. ${GOES_ON}`,
};

/** Why the session ended; null when the user knows. `ended`: the service's word. */
export function endWords(ended: string | null): Explanation | null {
  const words = ENDS[ended ?? ''];
  return words === undefined ? null : inTwo(words);
}
