import { BerthError, sentence } from './errors.ts';
import { FILE_WORDS, RECORDING_WORDS } from './words/file-words.ts';
import { PROVIDER_WORDS } from './words/provider-words.ts';

/** What went wrong, and what to do next. */
export type Explanation = {
  readonly title: string;
  readonly next: string;
  /** The page where that can be done. */
  readonly link?: { readonly href: string; readonly label: string };
};

/** The first sentence is the title. */
export function inTwo(words: string): Explanation {
  const [title = '', ...next] = words.split('. ');
  return { title, next: next.join('. ') };
}

const inSeconds = (seconds: number | null): string => {
  if (seconds === null) return 'Wait a moment, then try again.';
  if (seconds <= 0) return 'Try again now.';
  return seconds < 90 ? `Try again in ${seconds} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;
};

/** What happened, and what to do next. `{wait}`: how long the service asks to wait; `{reason}`: its reason. */
const BY_CODE: Readonly<Record<string, string>> = {
  ...PROVIDER_WORDS,
  ...FILE_WORDS,
  ...RECORDING_WORDS,
  unreachable:
    'Berth cannot be reached. Check your connection and that the server is running, then try again.',
  unanswered:
    'Berth did not respond, so this may or may not have been done. Once Berth responds again, check before you retry.',
  login_failed: 'Wrong email, username or password. Passwords are case-sensitive.',
  too_many_at_once:
    'Too many at once. Close a terminal or page you do not need, or wait for a command, upload or download to finish.',
  address_full:
    'Too many terminals and pages are open from your network. Close one you do not need. An administrator can raise the limit per address.',
  setup_done: 'Berth is already set up. Sign in with the account that was created then.',
  setup_code_rejected: 'This set-up link is not valid. Use the link that Berth printed when it last started.',
  registration_closed: 'Registration is closed. Ask an administrator for an account.',
  guest_session_expired:
    'Your guest access has expired. Sign in with an account to continue. You can still view and delete what you have.',
  kept_limit_reached:
    'Deleted containers still count against your tier. Delete one of them permanently, then try again. Its space is usually freed within a minute, at most within an hour.',
  container_limit_reached:
    'You have as many containers as your tier allows. Delete one that you no longer need, or ask an administrator for more.',
  name_taken:
    'You already have a container with this name. Rename or delete that one first, or choose another name.',
  snapshot_name_taken:
    'You already have a snapshot with this name. Delete that one first, or choose another name.',
  snapshot_limit_reached:
    'You have as many snapshots as your tier allows. Delete one that you no longer need.',
  snapshot_space_reached:
    'Your snapshots would use more disk than your tier allows. Delete one that you no longer need.',
  not_offered_by_engine: 'The container engine of this server does not offer this. Nothing was changed.',
  snapshot_needs_start: 'This container is missing from the container engine. Start it, then copy it.',
  snapshot_not_ready: 'This snapshot is still being taken. Wait until it is ready.',
  snapshot_not_found: 'This snapshot was deleted. Reload the page.',
  disk_quota_exceeded:
    'The workspace is larger than its disk size. Increase its disk size under “Settings…”. That also starts it. No files are lost.',
  host_disk_short:
    'The host is low on disk space. Nothing new can be created until an administrator frees some.',
  engine_full:
    'The container engine has no room for this now. Stop another container, choose smaller limits, or ask an administrator.',
  node_in_maintenance:
    'The machine that has this container is in maintenance. No files are lost. Try again later, or ask an administrator.',
  image_unavailable:
    'The image is not available. Its registry does not respond or does not have it. Choose another image, or ask an administrator.',
  container_busy: 'Another change is still in progress. {wait}',
  too_many_processes:
    'This container has reached its process limit. Stop some processes, or restart the container.',
  container_unresponsive:
    'This container does not respond. Try again in a few seconds. If this keeps happening, stop the container and start it again.',
  engine_right_missing: '{words} Ask an administrator to grant it.',
  engine_busy: 'Too many of your requests are waiting for the container engine. {wait}',
  file_outcome_unknown:
    'This may or may not have been done. Berth lost the container engine before it confirmed the change. Check the file before you retry.',
  device_code_not_found:
    'No program is waiting for this code. Check the code that the program shows. It may also have expired: start again there.',
  recording_not_found: 'This recording is gone. It was deleted, or it belongs to another person.',
  container_not_found: 'This container is gone. It was deleted, or it belongs to another person.',
  collaboration_not_found:
    'This link is no longer valid. The share has ended, or the link is incomplete. Ask its sender for a new one.',
  collaboration_limit_reached:
    'You have reached the limit of share links for this container. End one you no longer need.',
  sharing_needs_tmux:
    'This container has no tmux. Sharing needs it. Install tmux in the container, then try again.',
  agent_not_connected: 'The machine is not connected. Its agent connects by itself when it can.',
  agent_unresponsive: 'The machine does not answer, and nothing was done. Try again.',
  agent_elsewhere: 'The machine has just connected to another process of this server. Try again.',
  agent_limit_reached: 'Your tier allows no more agents. Delete one you do not need.',
  container_paused: 'The container is paused while a snapshot of it is taken. Try again in a few seconds.',
  container_not_running: 'The container is not running. Start it first.',
  validation_failed: 'Some values are not valid. Correct the marked fields and try again.',
  code_rejected:
    'This code was not accepted. Enter the latest code from your app. Each code works only once. After five minutes, start over.',
  wrong_code: 'Wrong code. Enter the latest code from your app. Each code works only once.',
  confirmation_cancelled:
    'Nothing was changed. To continue, enter your password or a code from your authenticator app.',
  account_required: 'Guests cannot do this. It needs an account with a password. Sign in with one.',
  wrong_password: 'Wrong password. Enter your current password.',
  wrong_passcode: 'Wrong passcode. Try again. Five wrong attempts in a row sign you out.',
  passkey_refused:
    'This passkey was not accepted. It may have been removed from the account. Sign in another way.',
  passkey_cancelled:
    'No passkey was used. It was cancelled, or took too long. Try again, or continue without a passkey.',
  passkey_registered:
    'This device already has a passkey for your account. Use that one, or add one from another device.',
  passkeys_unavailable:
    'Passkeys are not available here. They need HTTPS and a domain name. An administrator can set BERTH_PUBLIC_URL.',
  provider_other_person:
    'You signed in at the provider as somebody else. Use the sign-in that is connected to this account.',
  provider_time_missing:
    'Your provider does not say when you signed in, so it cannot confirm that it is you. Ask an administrator for a link to set a password, and confirm with that.',
  identity_taken: 'This sign-in is connected to an account already. Disconnect it there first.',
  identity_needed: 'This is your only way to sign in. Set a password first.',
  new_password_required:
    'This account was reset within the last hour. Sign in with the new password to do this.',
  session_locked: 'Your session is locked. Unlock it with your passcode.',
  account_disabled: 'This account is disabled. {reason}Ask an administrator to enable it.',
  user_disabled: 'This account is disabled. Enable it first.',
  own_account: 'This is your own account. Another administrator can do this, or use your settings.',
  link_limit_reached: 'There are too many open links. Withdraw some that nobody needs.',
  announcement_limit_reached: 'There are too many announcements. Delete one that has ended.',
  last_administrator: 'This is the last administrator. Make another person an administrator first.',
  ssh_key_exists:
    'This SSH key is already in use. If it is not in your list, another account has it: make a new key.',
  catalogue_key_taken: 'This name is already in use. Change the existing entry, or choose another name.',
  catalogue_entry_in_use:
    'It is still in use. First move the people who have it, or delete the containers that use it.',
  catalogue_entry_needed: 'This entry is built in and cannot be deleted. Change it instead.',
  role_setup_not_needed:
    'There is nothing to install. The toolset of this container adds nothing to its image.',
  role_setup_not_active: 'Nothing is being installed. The installation has already ended.',
  token_cannot_derive:
    'This token cannot make a child token. Its uses are counted, or it is the fifth below another. Use another token.',
  mfa_not_started: 'This set-up of your authenticator app has expired. Start it again.',
  passcode_not_set: 'You have no passcode. Set one first.',
  token_limit_reached: 'You have reached the limit of API tokens. Revoke one you no longer need.',
  passkey_limit_reached: 'You have reached the limit of passkeys. Delete one you no longer need.',
  identity_limit_reached:
    'You have reached the limit of connected sign-ins. Disconnect one you no longer need.',
  ssh_key_limit_reached: 'You have reached the limit of SSH keys. Remove one you no longer need.',
  not_for_agents: 'A machine of your own does not support this. Only a container does.',
  service_overloaded: 'Berth has too many connections now. {wait}',
  busy_opening_terminals: 'Too many terminals are opening at once. {wait}',
};

const LINKS: Readonly<Record<string, Explanation['link']>> = {
  kept_limit_reached: { href: '/deleted', label: 'Recently deleted' },
  snapshot_limit_reached: { href: '/snapshots', label: 'Snapshots' },
  snapshot_space_reached: { href: '/snapshots', label: 'Snapshots' },
  recording_quota_reached: { href: '/recordings', label: 'Recordings' },
};

const byStatus = (error: BerthError, waitSeconds: number | null): Explanation => {
  const isBare = error.message === 'internal error';
  const title = isBare ? 'Something went wrong on the server' : sentence(error.message).replace(/\.$/, '');
  if (error.status === 401) return { title: 'You are signed out', next: 'Sign in again to continue.' };
  if (error.status === 403)
    return { title, next: 'Your account is not allowed to do this. Ask an administrator.' };
  if (error.status === 503) return { title: 'Berth is busy or starting', next: inSeconds(waitSeconds) };
  if (error.status >= 500) {
    return {
      title,
      next: 'Try again. If this keeps happening, an administrator can find the cause in the server log.',
    };
  }
  if (error.status === 404) return inItsWords(error, 'It may have been deleted. Reload the page.');
  if (error.status === 409)
    return inItsWords(error, 'Something else may have changed it meanwhile. Reload the page.');
  return { title, next: 'Check what you entered and try again.' };
};

/** By the service's `what is so: what to do`; `otherwise`: what to do where it does not say that. */
function inItsWords({ message }: BerthError, otherwise: string): Explanation {
  const [fact = '', advice = otherwise] = message.split(/: (.*)/s);
  return { title: sentence(fact).replace(/\.$/, ''), next: sentence(advice) };
}

/** An administrator's own words. */
const quoted = (reason: string | null): string => (reason === null ? '' : `Reason: “${reason}”. `);

function byCode({ code, reason, message }: BerthError, waitSeconds: number | null): Explanation | null {
  const words = BY_CODE[code]
    ?.replace('{wait}', inSeconds(waitSeconds))
    .replace('{reason}', () => quoted(reason))
    .replace('{words}', () => sentence(message));
  if (words === undefined) return null;
  const link = LINKS[code];
  return { ...inTwo(words), ...(link && { link }) };
}

const ENGINE_DOWN =
  'The container engine is not running. Try again when the notice at the top of the page disappears.';

/** How long the service asks to wait; null where it does not say. */
export const waitSecondsOf = (failure: unknown): number | null =>
  failure instanceof BerthError ? failure.retryAfterSeconds : null;

/**
 * `engineIsDown`: the likely cause of failures that the service does not explain. `waitSeconds`: what is left of the
 * time that the service asks to wait.
 */
export function explain(
  failure: unknown,
  engineIsDown = false,
  waitSeconds = waitSecondsOf(failure),
): Explanation {
  if (!(failure instanceof BerthError)) {
    return { title: 'Something unexpected happened in this page', next: 'Reload the page and try again.' };
  }
  const words = byCode(failure, waitSeconds) ?? byStatus(failure, waitSeconds);
  return engineIsDown && failure.status === 500 ? { ...words, next: ENGINE_DOWN } : words;
}
