import { ApiError, sentence } from './errors.ts';

/** What went wrong and what to do next, in words for people. */
export type Explanation = {
  readonly title: string;
  readonly next: string;
  /** Where that can be done, in this page. */
  readonly link?: { readonly href: string; readonly label: string };
};

const inSeconds = (seconds: number | null): string => {
  if (seconds === null) return 'Wait a moment, then try again.';
  return seconds < 90 ? `Try again in ${seconds} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;
};

const BY_CODE: Readonly<Record<string, (error: ApiError) => Explanation>> = {
  unreachable: () => ({
    title: 'Berth cannot be reached',
    next: 'Check that the service runs and that you are online; then try again.',
  }),
  unanswered: () => ({
    title: 'Berth did not respond, so this may or may not have been done',
    next: 'Once Berth responds again, check before you retry.',
  }),
  login_failed: () => ({
    title: 'Wrong email or password',
    next: 'Check both. Capital letters matter in the password.',
  }),
  too_many_at_once: () => ({
    title: 'Too many at once',
    next: 'Close a terminal or page that you do not need, or wait until a command, upload or download ends.',
  }),
  address_full: () => ({
    title: 'Too many terminals and pages are open from your network',
    next: 'Close one that you do not need. An administrator can allow more for one address.',
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
  kept_limit_reached: () => ({
    title: 'Deleted containers still take up your room',
    next: 'Delete one of them for good. Its room is free within the hour, mostly in a minute; then try again.',
    link: { href: '/deleted', label: 'Deleted containers' },
  }),
  container_limit_reached: () => ({
    title: 'You have as many containers as your tier allows',
    next: 'Delete one that you no longer need, or ask an administrator for more.',
  }),
  name_taken: () => ({
    title: 'You already have a container of this name',
    next: 'Rename or delete that one first, or choose another name.',
  }),
  disk_quota_exceeded: () => ({
    title: 'The workspace holds more than its disk size',
    next: 'Give it more disk under “Settings…”: that starts it as well. Nothing is lost meanwhile.',
  }),
  host_disk_short: () => ({
    title: 'The host is short of disk space',
    next: 'Nothing new can be made there until its administrator has made room.',
  }),
  image_unavailable: () => ({
    title: 'The image cannot be had',
    next: 'Its registry does not answer or does not have it. Choose another image, or ask an administrator.',
  }),
  container_busy: (error) => ({
    title: 'Another change is still under way',
    next: inSeconds(error.retryAfterSeconds),
  }),
  too_many_processes: () => ({
    title: 'This container has reached its process limit',
    next: 'Stop some processes, or restart the container.',
  }),
  container_unresponsive: () => ({
    title: 'No new program starts in this container',
    next: 'Try again in a few seconds. If that goes on, stop the container and start it.',
  }),
  engine_busy: (error) => ({
    title: 'The container engine has too much to do for you',
    next: inSeconds(error.retryAfterSeconds),
  }),
  container_not_found: () => ({
    title: 'This container is gone',
    next: 'It was deleted, or it belongs to somebody else.',
  }),
  collaboration_not_found: () => ({
    title: 'This link leads nowhere any more',
    next: 'What it shared has ended, or the link is not whole. Ask who sent it for a new one.',
  }),
  collaboration_limit_reached: () => ({
    title: 'This terminal is shared as often as it can be',
    next: 'End a link that you no longer need.',
  }),
  sharing_needs_tmux: () => ({
    title: 'This container has no tmux',
    next: 'Sharing needs it. Install tmux in the container, then try again.',
  }),
  container_not_running: () => ({ title: 'The container does not run', next: 'Start it first.' }),
  validation_failed: () => ({
    title: 'Some values are not accepted',
    next: 'Correct the marked fields and try again.',
  }),
  code_rejected: () => ({
    title: 'This code was not accepted',
    next: 'Enter the newest code of your app; each works only once. After five minutes, start over.',
  }),
  wrong_code: () => ({
    title: 'Wrong code',
    next: 'Enter the newest code of your app; each works only once.',
  }),
  confirmation_cancelled: () => ({
    title: 'Nothing was changed',
    next: 'It takes your password, or a code of your authenticator app, to go on.',
  }),
  account_required: () => ({
    title: 'Guests cannot do this',
    next: 'It belongs to an account with a password. Sign in with one.',
  }),
  wrong_password: () => ({ title: 'Wrong password', next: 'Enter the password that you have now.' }),
  wrong_passcode: () => ({
    title: 'Wrong passcode',
    next: 'Try again. After five wrong ones in a row you are signed out.',
  }),
  passkey_refused: () => ({
    title: 'This passkey was not accepted',
    next: 'It may have been removed from the account. Sign in in another way.',
  }),
  passkey_cancelled: () => ({
    title: 'No passkey was used',
    next: 'It was cancelled, or took too long. Try again, or go on without a passkey.',
  }),
  passkey_registered: () => ({
    title: 'This device already has a passkey for your account',
    next: 'Use it as it is, or add one from another device.',
  }),
  passkeys_unavailable: () => ({
    title: 'Passkeys are not available here',
    next: 'Berth must be reached by https and a domain name; an administrator sets BERTH_PUBLIC_URL.',
  }),
  session_locked: () => ({ title: 'Your session is locked', next: 'Unlock it with your passcode.' }),
  last_administrator: () => ({
    title: 'This is the last administrator',
    next: 'Make somebody else an administrator first.',
  }),
  ssh_key_exists: () => ({
    title: 'You have added this SSH key already',
    next: 'It is in the list, perhaps under another name.',
  }),
  catalogue_key_taken: () => ({
    title: 'There is already one of this name',
    next: 'Change that one, or choose another name.',
  }),
  catalogue_entry_in_use: () => ({
    title: 'It is still in use',
    next: 'Give the users another tier, or delete the containers that have it, first.',
  }),
  catalogue_entry_needed: () => ({
    title: 'The service cannot do without it',
    next: 'It is a default of the service. You can change it instead.',
  }),
  role_setup_not_needed: () => ({
    title: 'There is nothing to install',
    next: 'The role of this container has no tools beyond its image.',
  }),
  role_setup_not_active: () => ({
    title: 'Nothing is being installed',
    next: 'It has come to its end meanwhile.',
  }),
  token_limit_reached: () => ({
    title: 'You have as many API tokens as are allowed',
    next: 'Revoke one that you no longer need.',
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

const ENGINE_DOWN =
  'The container engine does not run. Try again once the note about it at the top of the page is gone.';

/** `engineIsDown`: the likely cause of failures that the service does not explain. */
export function explain(failure: unknown, engineIsDown = false): Explanation {
  if (!(failure instanceof ApiError)) {
    return { title: 'Something unexpected happened in this page', next: 'Reload the page and try again.' };
  }
  const words = BY_CODE[failure.code]?.(failure) ?? byStatus(failure);
  return engineIsDown && failure.status === 500 ? { ...words, next: ENGINE_DOWN } : words;
}
