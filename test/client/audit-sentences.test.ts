import t from 'tap';
import { ACTION_LABELS, actionOf, isFailedAction } from '../../src/client/audit/action-labels.ts';
import { sentenceText } from '../../src/client/audit/sentence.ts';
import { auditSentence, containersIn, namesIn } from '../../src/client/audit/sentences.ts';
import type { AuditAction } from '../../src/domain/audit.ts';
import { auditDays } from '../../web/src/lib/audit-days.ts';
import { auditIcon } from '../../web/src/lib/audit-icons.ts';
import { RECORDED } from '../support/samples/audit-records.ts';

const NAMES = new Map([
  ['box', 'dev'],
  ['ada', 'ada'],
  ['eve', 'eve'],
]);

/** The sentence of the example of each action. */
const SENTENCES: Readonly<Record<AuditAction, string>> = {
  login: 'Signed in',
  login_failed: 'Failed to sign in: wrong password',
  logged_out: 'Signed out',
  device_sign_in_approved: 'Let a program sign in by a code: laptop, 127.0.0.1',
  device_sign_in_denied: 'Refused a program that wanted to sign in by a code: laptop, 127.0.0.1',
  session_revoked: 'Signed out a session',
  sessions_revoked_others: 'Signed out all other sessions',
  container_created: 'Created container ID',
  container_stopped: 'Stopped dev',
  container_started: 'Started dev',
  container_updated: 'Changed dev',
  container_deleted: 'Deleted dev',
  container_restored: 'Restored dev',
  container_over_share: 'Berth stopped dev: it used 1000000 of 1000 inotify instances',
  lifetime_changed: 'Changed when dev ends',
  container_purged: 'Permanently deleted container ID and its files',
  agent_enrolment_created: 'Made a code to connect a machine',
  agent_enrolled: 'Connected a machine by a code, with the token PREFIX…',
  agent_added: 'Added machine ID',
  agent_connected: 'Connected machine ID',
  agent_disconnected: 'Lost the connection to machine ID',
  agent_stopped: 'Stopped machine ID',
  agent_deleted: 'Deleted machine ID',
  role_setup_retried: 'Installed the tools of container ID again',
  role_setup_cancelled: 'Cancelled the installation of tools in container ID',
  terminal_opened: 'Opened a terminal of dev',
  terminal_closed: 'Closed a terminal that ada had open in dev',
  recording_started: 'Started a recording of dev',
  recording_deleted: 'Deleted a recording of dev',
  recording_downloaded: 'Downloaded a recording of dev',
  command_run: 'Ran true in dev',
  ssh_connected: 'Connected to dev by SSH',
  port_forwarded: 'Forwarded the port 3000 of dev',
  ssh_agent_forwarded: 'Let dev use an SSH agent',
  ssh_disconnected: 'Disconnected from dev by SSH after 0 s',
  ssh_refused: 'Could not connect by SSH: no container other, with an SSH key',
  process_started: 'Started the process cat in dev',
  process_signalled: 'Sent INT to a process in dev',
  file_uploaded: 'Wrote /workspace/notes in dev',
  file_downloaded: 'Downloaded /workspace/notes from dev',
  files_searched: 'Searched /workspace/notes in dev',
  ports_listed: 'Listed the ports of dev',
  file_deleted: 'Deleted /workspace/notes in dev',
  collaboration_started: 'Shared dev for viewing',
  collaboration_joined: 'Joined the shared dev for viewing',
  collaboration_left: 'Left the shared dev',
  collaboration_participant_removed: 'Removed eve from the shared dev',
  collaboration_ended: 'Stopped sharing dev',
  token_created: 'Made the API token PREFIX…',
  token_revoked: 'Revoked the API token PREFIX…',
  token_deleted: 'Deleted the API token PREFIX…',
  user_created: 'Made the account of user ID',
  user_updated: 'Made eve an administrator and moved the account to the tier pro',
  invitation_created: 'Made an invitation',
  invitation_withdrawn: 'Withdrew an invitation',
  invitation_accepted: 'Accepted an invitation',
  reset_link_created: 'Made a link for eve to set a new password',
  reset_link_withdrawn: 'Withdrew a reset link',
  password_reset: 'Set a new password by a link',
  second_factor_reset: 'Turned off the second factor by a link',
  ssh_key_added: 'Added the SSH key SHA256:F53fV8S/uvxOgdY8nP5zwn87S87cWnMyIvHHlB6B62c',
  ssh_key_removed: 'Removed the SSH key SHA256:F53fV8S/uvxOgdY8nP5zwn87S87cWnMyIvHHlB6B62c',
  announcement_created: 'Announced Berth restarts tonight.',
  announcement_updated: 'Changed the announcement Berth restarts tonight.',
  announcement_deleted: 'Deleted the announcement Berth restarts tonight.',
  settings_updated: 'Changed the settings of the server',
  tier_created: 'Added the tier tiny',
  tier_updated: 'Changed the tier tiny',
  tier_deleted: 'Deleted the tier tiny',
  image_created: 'Added the image alpine',
  image_updated: 'Changed the image alpine',
  image_deleted: 'Deleted the image alpine',
  role_created: 'Added the toolset ruby',
  role_updated: 'Changed the toolset ruby',
  role_deleted: 'Deleted the toolset ruby',
  mfa_enabled: 'Turned on the second factor',
  recovery_codes_replaced: 'Made new recovery codes',
  confirmation_failed: 'Failed to confirm a change: wrong code',
  recovery_code_used: 'Used a recovery code',
  mfa_disabled: 'Turned off the second factor',
  passkey_added: 'Added a passkey',
  passkey_renamed: 'Renamed a passkey',
  passkey_removed: 'Removed a passkey',
  identity_linked: 'Connected a sign-in at https://id.example.org',
  identity_unlinked: 'Disconnected a sign-in at https://id.example.org',
  passcode_changed: 'Set the passcode of the screen lock',
  screen_locked: 'Locked the screen',
  screen_unlock_failed: 'Failed to unlock the screen',
  screen_unlocked: 'Unlocked the screen',
  passcode_removed: 'Removed the passcode of the screen lock',
  password_changed: 'Changed the password',
  container_transferred: 'Gave hers of fay to eve',
  account_ended: 'The account of ivo ended',
  user_deletion_started: 'Began to delete user ID',
  user_deleted: 'Deleted hal',
  users_listed: 'Viewed the list of people',
  containers_listed: 'Viewed the containers of everybody',
  terminals_listed: 'Viewed the open terminals of everybody',
  usage_listed: 'Viewed what everybody uses',
  audit_listed: 'Viewed the audit',
  audit_exported: 'Exported the audit',
  snapshot_created: 'Made snapshot ID',
  snapshot_deleted: 'Deleted snapshot ID',
  snapshot_restored: 'Restored snapshot ID',
  snapshot_given_up: 'Berth permanently deleted snapshot ID to make room',
  snapshot_removed: 'Berth permanently deleted snapshot ID: it was deleted long enough ago',
  volume_removed: 'Berth permanently deleted the files of container ID: it was deleted long enough ago',
};

const text = (action: string, details: string | object) =>
  sentenceText(
    auditSentence({ action, details: typeof details === 'string' ? details : JSON.stringify(details) }),
    NAMES,
  );

t.test('every audit action has a sentence', async (t) => {
  for (const [action, recorded] of Object.entries(RECORDED)) {
    const details = recorded.slice(recorded.indexOf(': ') + 2);
    t.equal(text(action, details), SENTENCES[action as AuditAction], action);
  }
});

const id = '1a2b3c4d-0000-4000-8000-000000000000';
/** The last second of a day by the reader's clock. */
const END = new Date(2027, 2, 31, 23, 59, 59).toISOString();
const IN_DEV = { container_id: 'box', command: 'ls' };

/** Details that the examples do not have. */
const OTHERS: readonly (readonly [string, string | object, string])[] = [
  ['login_failed', 'disabled', 'Could not sign in: disabled'],
  ['login_failed', 'provider_denied', 'Could not sign in: the provider refused'],
  [
    'identity_linked',
    { issuer: 'https://id', by: 'address' },
    'Connected a sign-in at https://id, by its verified address',
  ],
  [
    'identity_linked',
    { issuer: 'https://id', by: 'invitation' },
    'Connected a sign-in at https://id, with the new account of an invitation',
  ],
  ['user_updated', { id: 'eve', disabled: true, disabledReason: 'left' }, 'Disabled eve'],
  ['user_updated', { id: 'eve', disabled: false }, 'Enabled eve'],
  ['user_updated', { id: 'eve', role: 'admin' }, 'Made eve an administrator'],
  [
    'user_updated',
    { id: 'eve', role: 'user', tier: 'pro', endsAt: 'never' },
    'Made eve an ordinary user, moved the account to the tier pro and removed the end of the account',
  ],
  ['user_updated', { id: 'eve', endsAt: END }, 'Set the end of the account of eve to 31 March 2027'],
  [
    'user_updated',
    { id: 'eve', disabled: false, endsAt: END },
    'Enabled eve and set the end of the account to 31 March 2027',
  ],
  ['user_updated', { id: 'eve', disabledReason: 'left' }, 'Changed the reason why eve is disabled'],
  ['user_updated', { id: 'eve', disabledReason: null }, 'Changed eve'],
  ['user_updated', { id: 'eve', endsAt: 'never' }, 'Removed the end of the account of eve'],
  ['user_updated', { username: 'eva' }, 'Changed the name to eva'],
  ['user_updated', { auto_lock_minutes: 5 }, 'Set the screen to lock after 5 minutes'],
  [
    'user_updated',
    { username: 'eva', auto_lock_minutes: 1 },
    'Changed the name to eva and set the screen to lock after 1 minute',
  ],
  ['user_updated', { auto_lock_minutes: null }, 'Changed the profile'],
  [
    'container_over_share',
    { ...IN_DEV, counter: 'moons', used: 2, limit: 1 },
    'Berth stopped dev: it used 2 of 1 moons',
  ],
  ['login_failed', 'disabled', 'Could not sign in: disabled'],
  ['terminal_closed', 'box', 'Closed a terminal of dev'],
  ['terminal_opened', { container_id: id, mode: 'view' }, 'Opened a terminal of container 1a2b3c4d'],
  ['agent_added', `agent:${id}`, 'Added machine 1a2b3c4d'],
  [
    'command_run',
    { ...IN_DEV, token_name: 'ci', times: 3 },
    'Ran ls in dev, with the token ci, the last of 3 times in a minute',
  ],
  ['command_run', { ...IN_DEV, ssh_key: 'SHA256:x' }, 'Ran ls in dev, with an SSH key'],
  ['command_run', 'not json', 'Ran something in container not json'],
  ['command_run', { container_id: {}, command: null }, 'Ran something in a container'],
  ['invitation_created', { id, email: 'kim@example.org', username: null }, 'Invited kim@example.org'],
  ['flown_to_moon', 'box', 'Flown to moon'],
  ['constructor', '', 'Constructor'],
];

t.test('sentences suit the details, and unknown actions have their words', async (t) => {
  for (const [action, details, expected] of OTHERS) t.equal(text(action, details), expected);
});

t.test('an action is found by its label and by its code', async (t) => {
  for (const [code, label] of Object.entries(ACTION_LABELS)) {
    t.equal(actionOf(` ${label.toUpperCase()}`), code);
    t.equal(actionOf(code), code);
  }
  t.equal(actionOf('something_new '), 'something_new', 'a newer version may have written it');
});

t.test('refusals are failures, as wrong secrets are', async (t) => {
  t.same(Object.keys(ACTION_LABELS).filter(isFailedAction).sort(), [
    'confirmation_failed',
    'device_sign_in_denied',
    'login_failed',
    'screen_unlock_failed',
    'ssh_refused',
  ]);
});

t.test('records have names of users by id', async (t) => {
  const deleted = { user_id: 'r', username: 'root', action: 'user_deleted' };
  const names = namesIn([{ ...deleted, details: '{"id":"h","username":"hal"}' }]);
  t.same(
    [...names],
    [
      ['r', 'root'],
      ['h', 'hal'],
    ],
  );
});

/** Newest first, a minute apart. */
const recordsOf = (...of: readonly (readonly [string, string, string?])[]) =>
  of.map(([action, details, ip_address = '::1'], index) => ({
    id: String(index),
    user_id: 'ada',
    user_agent: '',
    action,
    details,
    ip_address,
    created_at: new Date(new Date(2026, 2, 1, 12).getTime() - index * 60_000).toISOString(),
  }));
const folded = (records: ReturnType<typeof recordsOf>) =>
  auditDays(records).map(({ entries }) =>
    entries.map(({ records, sentence }) => `${records.length} ${sentenceText(sentence, NAMES)}`),
  );

t.test('terminals and failed sign-ins fold with neighbours that differ in time alone', async (t) => {
  const open = ['terminal_opened', 'box'] as const;
  const close = ['terminal_closed', 'box'] as const;
  const failed = ['login_failed', 'password'] as const;
  t.same(folded(recordsOf(close, open)), [['2 Opened and closed a terminal of dev']]);
  t.same(folded(recordsOf(open, close, open)), [['3 Opened and closed terminals of dev']]);
  t.same(folded(recordsOf(open, open)), [['2 Opened 2 terminals of dev']]);
  t.same(folded(recordsOf(failed, failed, [...failed, '::2'])), [
    ['2 Failed to sign in: wrong password, 2 times', '1 Failed to sign in: wrong password'],
  ]);
  t.same(folded(recordsOf(open, ['login', 's'], open, ['terminal_opened', 'other'])), [
    [
      '1 Opened a terminal of dev',
      '1 Signed in',
      '1 Opened a terminal of dev',
      '1 Opened a terminal of container other',
    ],
  ]);
  t.same(
    folded(recordsOf(['login', 's'], ['login', 's'])),
    [['1 Signed in', '1 Signed in']],
    'others do not',
  );
});

t.test('days have headings, and nothing folds across midnight', async (t) => {
  const [today, yesterday] = recordsOf(['terminal_closed', 'box'], ['terminal_opened', 'box']);
  if (today === undefined || yesterday === undefined) throw new Error('two records');
  const days = auditDays([today, { ...yesterday, created_at: new Date(2026, 1, 28, 12).toISOString() }]);
  t.equal(days.length, 2);
  t.same(
    days.map(({ entries }) => entries.length),
    [1, 1],
  );
});

t.test('each kind of record has an icon, and one of a newer version has none', async (t) => {
  t.same(
    Object.keys(ACTION_LABELS).filter((action) => auditIcon(action) === null),
    [],
  );
  t.equal(auditIcon('something_new'), null);
});

t.test('the containers of records are found by their ids, each once', async (t) => {
  const id = '5f0c2a91-7d3e-4b7a-9c55-0d1e2f3a4b5c';
  const records = [
    { action: 'container_started', details: id },
    { action: 'command_run', details: JSON.stringify({ container_id: id, command: 'ls' }) },
    { action: 'token_created', details: JSON.stringify({ id: id.replace('5', '6') }) },
    { action: 'container_stopped', details: 'no-id' },
  ];
  t.same(containersIn(records), [id]);
});
