import type { AuditAction } from '../../domain/audit.ts';
import type { SharedCounter } from '../../domain/containers/kernel-share.ts';
import { failedSignIn } from './failed-sign-in.ts';
import {
  container,
  type DetailOf,
  detailsOf,
  type KnownNames,
  type Sentence,
  say,
  thing,
  user,
} from './sentence.ts';
import { userUpdated } from './user-updated.ts';

type Words = string | ((of: DetailOf) => Sentence);

const CONNECTED_BY: Readonly<Record<string, string>> = {
  first_sign_in: ', with a new account',
  address: ', by its verified address',
  invitation: ', with the new account of an invitation',
};

/** A new action without a sentence does not compile. Its actor is not in it. */
const SENTENCES: Readonly<Record<AuditAction, Words>> = {
  login: 'Signed in',
  login_failed: (of) => [failedSignIn(of('id'))],
  logged_out: 'Signed out',
  session_revoked: 'Signed out a session',
  sessions_revoked_others: 'Signed out all other sessions',
  device_sign_in_approved: (of) => say`Let a program sign in by a code: ${thing(of('id'))}`,
  device_sign_in_denied: (of) => say`Refused a program that wanted to sign in by a code: ${thing(of('id'))}`,
  container_created: (of) => say`Created ${container(of)}`,
  container_started: (of) => say`Started ${container(of)}`,
  container_stopped: (of) => [...say`Stopped ${container(of)}`, ...ofOwner(of)],
  container_updated: (of) => say`Changed ${container(of)}`,
  container_deleted: (of) => [...say`Deleted ${container(of)}`, ...ofOwner(of)],
  container_restored: (of) => [...say`Restored ${container(of)}`, ...ofOwner(of)],
  container_purged: (of) => say`Permanently deleted ${container(of)} and its files`,
  container_over_share: (of) =>
    say`Berth stopped ${container(of)}: it used ${thing(of('used'))} of ${thing(of('limit'))} ${thing(counter(of))}`,
  container_transferred: (of) =>
    say`Gave ${container(of)} of ${user(of('from'), of('from_name'))} to ${user(of('to'), of('to_name'))}`,
  lifetime_changed: (of) => say`Changed when ${container(of)} ends`,
  volume_removed: (of) =>
    say`Berth permanently deleted the files of ${container(of)}: it was deleted long enough ago`,
  snapshot_created: (of) => say`Made ${snapshot(of)}`,
  snapshot_deleted: (of) => say`Deleted ${snapshot(of)}`,
  snapshot_restored: (of) => say`Restored ${snapshot(of)}`,
  snapshot_given_up: (of) => say`Berth permanently deleted ${snapshot(of)} to make room`,
  snapshot_removed: (of) => say`Berth permanently deleted ${snapshot(of)}: it was deleted long enough ago`,
  agent_enrolment_created: 'Made a code to connect a machine',
  agent_enrolled: (of) => say`Connected a machine by a code, with the token ${thing(prefix(of))}`,
  agent_added: (of) => say`Added ${machine(of)}`,
  agent_connected: (of) => say`Connected ${machine(of)}`,
  agent_disconnected: (of) => say`Lost the connection to ${machine(of)}`,
  agent_stopped: (of) => say`Stopped ${machine(of)}`,
  agent_deleted: (of) => say`Deleted ${machine(of)}`,
  role_setup_retried: (of) => say`Installed the tools of ${container(of)} again`,
  role_setup_cancelled: (of) => say`Cancelled the installation of tools in ${container(of)}`,
  terminal_opened: (of) => say`Opened a terminal of ${container(of)}`,
  terminal_closed: (of) =>
    of('user_id') === ''
      ? say`Closed a terminal of ${container(of)}`
      : say`Closed a terminal that ${user(of('user_id'))} had open in ${container(of)}`,
  recording_started: (of) => say`Started ${recording(of('id'), 'a recording')} of ${container(of)}`,
  recording_deleted: (of) => say`Deleted a recording of ${container(of)}`,
  recording_downloaded: (of) =>
    say`Downloaded ${recording(of('recording_id'), 'a recording')} of ${container(of)}`,
  command_run: (of) => say`Ran ${thing(of('command'))} in ${container(of)}`,
  ssh_connected: (of) => say`Connected to ${container(of)} by SSH`,
  ssh_disconnected: (of) => say`Disconnected from ${container(of)} by SSH after ${thing(lasted(of))}`,
  ssh_refused: (of) => say`Could not connect by SSH: no container ${thing(of('wanted'))}`,
  port_forwarded: (of) => say`Forwarded the port ${thing(of('port'))} of ${container(of)}`,
  ssh_agent_forwarded: (of) => say`Let ${container(of)} use an SSH agent`,
  process_started: (of) => say`Started the process ${thing(of('name'))} in ${container(of)}`,
  process_signalled: (of) => say`Sent ${thing(of('signal'))} to a process in ${container(of)}`,
  file_uploaded: (of) => say`Wrote ${thing(of('path'))} in ${container(of)}`,
  file_deleted: (of) => say`Deleted ${thing(of('path'))} in ${container(of)}`,
  file_downloaded: (of) => say`Downloaded ${thing(of('path'))} from ${container(of)}`,
  ports_listed: (of) => say`Listed the ports of ${container(of)}`,
  files_searched: (of) => say`Searched ${thing(of('path'))} in ${container(of)}`,
  collaboration_started: (of) => [...say`Shared ${container(of)} `, mode(of)],
  collaboration_joined: (of) => [...say`Joined the shared ${container(of)} `, mode(of)],
  collaboration_left: (of) => say`Left the shared ${container(of)}`,
  collaboration_participant_removed: (of) =>
    say`Removed ${user(of('participant_id'))} from the shared ${container(of)}`,
  collaboration_ended: (of) => say`Stopped sharing ${container(of)}`,
  token_created: (of) => say`Made the API token ${thing(prefix(of))}`,
  token_revoked: (of) => say`Revoked the API token ${thing(prefix(of))}`,
  token_deleted: (of) => say`Deleted the API token ${thing(prefix(of))}`,
  user_created: (of) => say`Made the account of ${user(of('id'))}`,
  user_updated: userUpdated,
  account_ended: (of) => say`The account of ${user(of('id'), of('username'))} ended`,
  user_deletion_started: (of) => say`Began to delete ${user(of('id'))}`,
  user_deleted: (of) => say`Deleted ${user(of('id'), of('username'))}`,
  invitation_created: (of) =>
    of('username') || of('email')
      ? say`Invited ${thing(of('username') || of('email'))}`
      : ['Made an invitation'],
  invitation_withdrawn: 'Withdrew an invitation',
  invitation_accepted: 'Accepted an invitation',
  reset_link_created: (of) =>
    of('kind') === 'password'
      ? say`Made a link for ${user(of('user'))} to set a new password`
      : say`Made a link for ${user(of('user'))} to turn off the second factor`,
  reset_link_withdrawn: 'Withdrew a reset link',
  password_reset: 'Set a new password by a link',
  second_factor_reset: 'Turned off the second factor by a link',
  users_listed: 'Viewed the list of people',
  containers_listed: 'Viewed the containers of everybody',
  terminals_listed: 'Viewed the open terminals of everybody',
  usage_listed: 'Viewed what everybody uses',
  audit_listed: 'Viewed the audit',
  audit_exported: 'Exported the audit',
  ssh_key_added: (of) => say`Added the SSH key ${thing(of('id'))}`,
  ssh_key_removed: (of) => say`Removed the SSH key ${thing(of('id'))}`,
  announcement_created: (of) => say`Announced ${thing(of('text'))}`,
  announcement_updated: (of) => say`Changed the announcement ${thing(of('text'))}`,
  announcement_deleted: (of) => say`Deleted the announcement ${thing(of('text'))}`,
  settings_updated: 'Changed the settings of the server',
  tier_created: (of) => say`Added the tier ${thing(of('name') || of('key'))}`,
  tier_updated: (of) => say`Changed the tier ${thing(of('key'))}`,
  tier_deleted: (of) => say`Deleted the tier ${thing(of('key'))}`,
  image_created: (of) => say`Added the image ${thing(of('key'))}`,
  image_updated: (of) => say`Changed the image ${thing(of('key'))}`,
  image_deleted: (of) => say`Deleted the image ${thing(of('key'))}`,
  role_created: (of) => say`Added the toolset ${thing(of('key'))}`,
  role_updated: (of) => say`Changed the toolset ${thing(of('key'))}`,
  role_deleted: (of) => say`Deleted the toolset ${thing(of('key'))}`,
  password_changed: 'Changed the password',
  confirmation_failed: (of) => [`Failed to confirm a change: wrong ${of('id')}`],
  mfa_enabled: 'Turned on the second factor',
  mfa_disabled: 'Turned off the second factor',
  recovery_code_used: 'Used a recovery code',
  recovery_codes_replaced: 'Made new recovery codes',
  passkey_added: 'Added a passkey',
  passkey_renamed: 'Renamed a passkey',
  passkey_removed: 'Removed a passkey',
  identity_linked: (of) => [`Connected a sign-in at ${of('issuer')}${CONNECTED_BY[of('by')] ?? ''}`],
  identity_unlinked: (of) => [`Disconnected a sign-in at ${of('issuer')}`],
  passcode_changed: 'Set the passcode of the screen lock',
  passcode_removed: 'Removed the passcode of the screen lock',
  screen_locked: 'Locked the screen',
  screen_unlocked: 'Unlocked the screen',
  screen_unlock_failed: 'Failed to unlock the screen',
};

/** The record as a sentence without its actor; the action's words for one that a newer version wrote. */
export function auditSentence(record: { readonly action: string; readonly details: string }): Sentence {
  const { action, details } = record;
  const words = Object.hasOwn(SENTENCES, action) ? SENTENCES[action as AuditAction] : plainWords(action);
  if (typeof words === 'string') return [words];
  const of = detailsOf(details);
  return [...words(of), ...credential(of), ...times(of)];
}

type NamedRecord = {
  readonly user_id: string | null;
  readonly username?: string | null;
  readonly action: string;
  readonly details: string;
};

/** The names of users that records have, by id. */
export function namesIn(records: readonly NamedRecord[]): KnownNames {
  const names = new Map<string, string>();
  for (const { user_id, username, action, details } of records) {
    if (user_id !== null && username) names.set(user_id, username);
    if (action !== 'user_deleted') continue;
    const of = detailsOf(details);
    names.set(of('id'), of('username'));
  }
  return names;
}

const DB_ID = /^[0-9a-f-]{36}$/;

/** The ids of the containers that records name, each once. */
export function containersIn(
  records: readonly { readonly action: string; readonly details: string }[],
): readonly string[] {
  const nouns = records.flatMap(auditSentence).filter((part) => typeof part !== 'string');
  const ids = nouns.filter(({ kind, id }) => kind === 'container' && DB_ID.test(id)).map(({ id }) => id);
  return [...new Set(ids)];
}

const plainWords = (action: string): string =>
  (action.charAt(0).toUpperCase() + action.slice(1)).replaceAll('_', ' ');

/** Whose container it was; the administrator's own has none. */
const ofOwner = (of: DetailOf): Sentence =>
  of('owner') === '' ? [] : say` of ${user(of('owner'), of('owner_name'))}`;

/** The secret that a program signed in with, as far as it has a name for its owner. */
function credential(of: DetailOf): Sentence {
  if (of('token_name') !== '') return say`, with the token ${thing(of('token_name'))}`;
  return of('ssh_key') === '' ? [] : [', with an SSH key'];
}

const times = (of: DetailOf): Sentence =>
  of('times') === '' ? [] : [`, the last of ${of('times')} times in a minute`];

const COUNTERS: Readonly<Record<SharedCounter, string>> = {
  descriptorsInFlight: 'file descriptors in flight over sockets',
  inotifyInstances: 'inotify instances',
  pipePages: 'pages of pipe buffers',
  pendingSignals: 'pending signals and timers',
  terminals: 'pseudo-terminals',
  messageQueueBytes: 'bytes of POSIX message queues',
  keys: 'session keys',
  aioRequests: 'io_setup requests',
  connections: 'packet filter connections',
};

const counter = (of: DetailOf): string =>
  (COUNTERS as Readonly<Record<string, string>>)[of('counter')] ?? of('counter');

const prefix = (of: DetailOf): string => `${of('token_prefix')}…`;
const lasted = (of: DetailOf): string => `${of('seconds') || 0} s`;
const mode = (of: DetailOf): string => (of('mode') === 'view' ? 'for viewing' : 'for typing');
const recording = (id: string, name: string) => ({ kind: 'recording', id, name }) as const;
const machine = (of: DetailOf) => ({ kind: 'machine', id: of('id'), name: '' }) as const;
const snapshot = (of: DetailOf) => thing(`snapshot ${of('id').slice(0, 8)}`);
