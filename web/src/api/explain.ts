import { ApiError, sentence } from './errors.ts';

/** What went wrong and what to do next, in words for people. */
export type Explanation = { readonly title: string; readonly next: string };

const inSeconds = (seconds: number | null): string => {
  if (seconds === null) return 'Wait a moment, then try again.';
  return seconds < 90 ? `Try again in ${seconds} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;
};

const BY_CODE: Readonly<Record<string, (error: ApiError) => Explanation>> = {
  unreachable: () => ({
    title: 'Berth cannot be reached',
    next: 'Check that the service runs and that you are online; then try again.',
  }),
  login_failed: () => ({
    title: 'Wrong email or password',
    next: 'Check both. Capital letters matter in the password.',
  }),
  rate_limited: (error) => ({
    title: 'Too many tries',
    next: inSeconds(error.retryAfterSeconds),
  }),
  setup_done: () => ({
    title: 'Berth is already set up',
    next: 'Sign in with the account that was created then.',
  }),
  setup_code_rejected: () => ({
    title: 'This set-up link is not valid',
    next: 'Use the newest link that Berth printed when it started.',
  }),
  registration_closed: () => ({
    title: 'Registration is closed',
    next: 'Ask an administrator of this Berth for an account.',
  }),
  guest_session_expired: () => ({
    title: 'Your guest time is over',
    next: 'Sign in with an account to go on. You can still read and delete what is there.',
  }),
  container_limit_reached: () => ({
    title: 'You have as many containers as your tier allows',
    next: 'Delete one that you no longer need, or ask an administrator for more.',
  }),
  container_busy: (error) => ({
    title: 'Another change is still under way',
    next: inSeconds(error.retryAfterSeconds),
  }),
  container_not_found: () => ({
    title: 'This container is gone',
    next: 'It was deleted, or it belongs to somebody else.',
  }),
  validation_failed: () => ({
    title: 'Some values are not accepted',
    next: 'Correct the marked fields and try again.',
  }),
  mfa_required: () => ({
    title: 'This account has a second factor',
    next: 'This page cannot ask for it yet. Use an API token, or sign in where it can.',
  }),
  session_locked: () => ({
    title: 'Your session is locked',
    next: 'This page cannot unlock it yet. Sign out and in again, or unlock it through the interface.',
  }),
};

const byStatus = (error: ApiError): Explanation => {
  const title = sentence(error.message).replace(/\.$/, '');
  if (error.status === 401) return { title: 'You are signed out', next: 'Sign in again to go on.' };
  if (error.status === 403) return { title, next: 'Your account may not do this. Ask an administrator.' };
  if (error.status === 503)
    return { title: 'Berth is busy or starting', next: inSeconds(error.retryAfterSeconds) };
  if (error.status >= 500) {
    return {
      title,
      next: 'Try again. If it stays so, an administrator finds the cause in the log of the service.',
    };
  }
  return { title, next: 'Check what you entered and try again.' };
};

const ENGINE_DOWN = 'The container engine does not run; the note at the top of the page says what to do.';

/** `engineIsDown`: the likely cause of failures that the service does not explain. */
export function explain(failure: unknown, engineIsDown = false): Explanation {
  if (!(failure instanceof ApiError)) {
    return { title: 'Something unexpected happened in this page', next: 'Reload the page and try again.' };
  }
  const words = BY_CODE[failure.code]?.(failure) ?? byStatus(failure);
  return engineIsDown && failure.status === 500 ? { ...words, next: ENGINE_DOWN } : words;
}
