import type { Explanation } from '../api/explain.ts';

const GOES_ON = 'Your programs go on running.';

const ENDS: Readonly<Record<string, Explanation>> = {
  revoked: { title: 'You were signed out', next: `This session was ended in another browser. ${GOES_ON}` },
  password_changed: {
    title: 'You were signed out',
    next: `Your password was changed in another browser, which ends all other sessions. ${GOES_ON}`,
  },
  user_disabled: {
    title: 'Your account is disabled',
    next: `An administrator has disabled it and can enable it again. ${GOES_ON}`,
  },
  refresh_token_reused: {
    title: 'You were signed out to be safe',
    next: `This session was used from two places at once, as if it had been copied. ${GOES_ON} If it was not you, change your password.`,
  },
  too_many_wrong_passcodes: {
    title: 'You were signed out',
    next: `The passcode was wrong five times in a row. ${GOES_ON}`,
  },
  expired: {
    title: 'Your session has expired',
    next: `You were away for a while, or signed in long ago. ${GOES_ON}`,
  },
};

/** What to tell somebody who was signed in and is not any more; null when they know. `ended`: the service's word. */
export const endWords = (ended: string | null): Explanation | null =>
  ended === null ? null : (ENDS[ended] ?? null);
