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
    next: 'Check your connection and that the service is running, then try again.',
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
    next: 'Close a terminal or page you do not need, or wait for a command, upload or download to finish.',
  }),
  address_full: () => ({
    title: 'Too many terminals and pages are open from your network',
    next: 'Close one you do not need. An administrator can raise the limit per address.',
  }),
  rate_limited: (error) => ({
    title: 'Too many attempts',
    next: inSeconds(error.retryAfterSeconds),
  }),
  setup_done: () => ({
    title: 'Berth is already set up',
    next: 'Sign in with the account that was created then.',
  }),
  setup_code_rejected: () => ({
    title: 'This set-up link is not valid',
    next: 'Use the link that Berth printed when it last started.',
  }),
  registration_closed: () => ({
    title: 'Registration is closed',
    next: 'Ask an administrator of this Berth for an account.',
  }),
  guest_session_expired: () => ({
    title: 'Your guest access has expired',
    next: 'Sign in with an account to continue. You can still view and delete what you have.',
  }),
  kept_limit_reached: () => ({
    title: 'Deleted containers still count against your tier',
    next: 'Delete one of them permanently, then try again. Its space is usually freed within a minute, at most within an hour.',
    link: { href: '/deleted', label: 'Deleted containers' },
  }),
  container_limit_reached: () => ({
    title: 'You have as many containers as your tier allows',
    next: 'Delete one that you no longer need, or ask an administrator for more.',
  }),
  name_taken: () => ({
    title: 'You already have a container with this name',
    next: 'Rename or delete that one first, or choose another name.',
  }),
  disk_quota_exceeded: () => ({
    title: 'The workspace is larger than its disk size',
    next: 'Increase its disk size under “Settings…”. That also starts it. No files are lost.',
  }),
  host_disk_short: () => ({
    title: 'The host is low on disk space',
    next: 'Nothing new can be created until an administrator frees some.',
  }),
  image_unavailable: () => ({
    title: 'The image is not available',
    next: 'Its registry does not respond or does not have it. Choose another image, or ask an administrator.',
  }),
  container_busy: (error) => ({
    title: 'Another change is still in progress',
    next: inSeconds(error.retryAfterSeconds),
  }),
  too_many_processes: () => ({
    title: 'This container has reached its process limit',
    next: 'Stop some processes, or restart the container.',
  }),
  container_unresponsive: () => ({
    title: 'This container cannot start new programs',
    next: 'Try again in a few seconds. If this keeps happening, stop the container and start it again.',
  }),
  engine_busy: (error) => ({
    title: 'Too many of your requests are waiting for the container engine',
    next: inSeconds(error.retryAfterSeconds),
  }),
  container_not_found: () => ({
    title: 'This container is gone',
    next: 'It was deleted, or it belongs to another user.',
  }),
  collaboration_not_found: () => ({
    title: 'This link is no longer valid',
    next: 'The share has ended, or the link is incomplete. Ask its sender for a new one.',
  }),
  collaboration_limit_reached: () => ({
    title: 'This container has the most share links it can have',
    next: 'End a link you no longer need.',
  }),
  sharing_needs_tmux: () => ({
    title: 'This container has no tmux',
    next: 'Sharing needs it. Install tmux in the container, then try again.',
  }),
  container_not_running: () => ({ title: 'The container is not running', next: 'Start it first.' }),
  validation_failed: () => ({
    title: 'Some values are not valid',
    next: 'Correct the marked fields and try again.',
  }),
  code_rejected: () => ({
    title: 'This code was not accepted',
    next: 'Enter the latest code from your app. Each code works only once. After five minutes, start over.',
  }),
  wrong_code: () => ({
    title: 'Wrong code',
    next: 'Enter the latest code from your app. Each code works only once.',
  }),
  confirmation_cancelled: () => ({
    title: 'Nothing was changed',
    next: 'To continue, enter your password or a code from your authenticator app.',
  }),
  account_required: () => ({
    title: 'Guests cannot do this',
    next: 'It needs an account with a password. Sign in with one.',
  }),
  wrong_password: () => ({ title: 'Wrong password', next: 'Enter your current password.' }),
  wrong_passcode: () => ({
    title: 'Wrong passcode',
    next: 'Try again. Five wrong attempts in a row sign you out.',
  }),
  passkey_refused: () => ({
    title: 'This passkey was not accepted',
    next: 'It may have been removed from the account. Sign in another way.',
  }),
  passkey_cancelled: () => ({
    title: 'No passkey was used',
    next: 'It was cancelled, or took too long. Try again, or continue without a passkey.',
  }),
  passkey_registered: () => ({
    title: 'This device already has a passkey for your account',
    next: 'Use that one, or add one from another device.',
  }),
  passkeys_unavailable: () => ({
    title: 'Passkeys are not available here',
    next: 'They need HTTPS and a domain name. An administrator can set BERTH_PUBLIC_URL.',
  }),
  session_locked: () => ({ title: 'Your session is locked', next: 'Unlock it with your passcode.' }),
  last_administrator: () => ({
    title: 'This is the last administrator',
    next: 'Make another user an administrator first.',
  }),
  ssh_key_exists: () => ({
    title: 'You have already added this SSH key',
    next: 'It is in the list, perhaps under another name.',
  }),
  catalogue_key_taken: () => ({
    title: 'This name is already in use',
    next: 'Change the existing entry, or choose another name.',
  }),
  catalogue_entry_in_use: () => ({
    title: 'It is still in use',
    next: 'First move its users to another tier, or delete the containers that use it.',
  }),
  catalogue_entry_needed: () => ({
    title: 'The service needs this entry',
    next: 'It is one of the defaults. Change it instead of deleting it.',
  }),
  role_setup_not_needed: () => ({
    title: 'There is nothing to install',
    next: 'The role of this container adds no tools to its image.',
  }),
  role_setup_not_active: () => ({
    title: 'Nothing is being installed',
    next: 'The installation has already ended.',
  }),
  token_limit_reached: () => ({
    title: 'You have reached the limit of API tokens',
    next: 'Revoke one you no longer need.',
  }),
};

const byStatus = (error: ApiError): Explanation => {
  const title = sentence(error.message).replace(/\.$/, '');
  if (error.status === 401) return { title: 'You are signed out', next: 'Sign in again to continue.' };
  if (error.status === 403)
    return { title, next: 'Your account is not allowed to do this. Ask an administrator.' };
  if (error.status === 503)
    return { title: 'Berth is busy or starting', next: inSeconds(error.retryAfterSeconds) };
  if (error.status >= 500) {
    return {
      title,
      next: 'Try again. If this keeps happening, an administrator can find the cause in the service log.',
    };
  }
  return { title, next: 'Check what you entered and try again.' };
};

const ENGINE_DOWN =
  'The container engine is not running. Try again when the notice at the top of the page disappears.';

/** `engineIsDown`: the likely cause of failures that the service does not explain. */
export function explain(failure: unknown, engineIsDown = false): Explanation {
  if (!(failure instanceof ApiError)) {
    return { title: 'Something unexpected happened in this page', next: 'Reload the page and try again.' };
  }
  const words = BY_CODE[failure.code]?.(failure) ?? byStatus(failure);
  return engineIsDown && failure.status === 500 ? { ...words, next: ENGINE_DOWN } : words;
}
