import type { Explanation } from '../api/explain.ts';

const GOES_ON = 'Your programs keep running.';

const ENDS: Readonly<Record<string, Explanation>> = {
  revoked: { title: 'You were signed out', next: `This session was ended from another browser. ${GOES_ON}` },
  password_changed: {
    title: 'You were signed out',
    next: `Your password was changed from another browser, which ends all other sessions. ${GOES_ON}`,
  },
  user_disabled: {
    title: 'Your account is disabled',
    next: `An administrator has disabled it and can enable it again. ${GOES_ON}`,
  },
  refresh_token_reused: {
    title: 'You were signed out as a precaution',
    next: `This session was used from two places at once, so it may have been copied. ${GOES_ON} If that was not you, change your password.`,
  },
  too_many_wrong_passcodes: {
    title: 'You were signed out',
    next: `A wrong passcode was entered five times in a row. ${GOES_ON}`,
  },
  expired: {
    title: 'Your session has expired',
    next: `You were inactive for too long, or signed in too long ago. ${GOES_ON}`,
  },
};

/** What to tell somebody who was signed in and is not any more; null when they know. `ended`: the service's word. */
export const endWords = (ended: string | null): Explanation | null =>
  ended === null ? null : (ENDS[ended] ?? null);
