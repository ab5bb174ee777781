import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { MemoryRuntime } from '../../src/adapters/memory/containers/container-runtime.ts';
import type { memoryKernelShares } from '../../src/adapters/memory/index.ts';
import type { AuditAction } from '../../src/domain/audit.ts';
import { aMachine, connectMachine } from '../support/agent/scripted-agent.ts';
import { scriptedProvider } from '../support/openid/scripted-provider.ts';
import { atProvider, providerPort } from '../support/openid/sign-in.ts';
import { waitFor } from '../support/patience.ts';
import { RECORDED } from '../support/samples/audit-records.ts';
import { SSH_KEYS } from '../support/samples/samples.ts';
import {
  aServiceInTime,
  codeAt,
  from,
  type InTime,
  logIn,
  register,
  STEP_MS,
  withMfa,
} from '../support/service/factors.ts';
import {
  again,
  anAdmin,
  anApiToken,
  aPerson,
  as,
  type Bearer,
  type Person,
  person,
  sessionIdOf,
  small,
  stateOf,
} from '../support/service/service.ts';
import { sshByKey, sshOverWebSocket } from '../support/ssh/ssh-client.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, listening } from '../support/terminal/terminals.ts';

const MINUTE_MS = 60_000;
type AuditRecord = { userId: string | null; action: string; details: string };
const records = (service: InTime): AuditRecord[] => stateOf(service).audit;
const HOUR_MS = 60 * MINUTE_MS;
const range = (min: number, max: number) => ({ min, max });
const tier = { memory_mb: range(64, 128), cpu_shares: range(10, 100), disk_mb: range(64, 512) };
const [[type, , base64] = ['', '', '']] = SSH_KEYS;
const ROLE = { key: 'slow', label: 'Slow', script: 'echo done' };

type Scene = Awaited<ReturnType<typeof aScene>>;
/** Causes the action of its name, after those above it. */
type Example = (scene: Scene) => Promise<unknown>;

/** Root administers, Ada has a container, Bob a second factor, and Eve somebody else’s share. */
async function aScene(t: Test) {
  const provider = await scriptedProvider(t);
  const openIdProvider = providerPort(provider);
  const service = await aServiceInTime({ openIdProvider });
  const address = await listening(t, service);
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const bob = await withMfa(service, 'bob');
  const eve = await aPerson(service, 'eve');
  const dbId = await aContainerOf(service, ada);
  const by = (who: Bearer) => as(service, who);
  const codeOfBob = (): string => {
    service.clock.advance(STEP_MS);
    return codeAt(bob.secret, service.clock.now());
  };
  return { t, service, provider, address, root, ada, bob, eve, dbId, by, codeOfBob };
}

let startedProcess = '';
const box = ({ dbId }: Scene, action = ''): string => `/api/containers/${dbId}${action}`;
const share = async (scene: Scene) =>
  (await scene.by(scene.ada)('POST', box(scene, '/collaborations'), { mode: 'view' })).json();
const joined = async (scene: Scene): Promise<string> => {
  const { id, code } = await share(scene);
  await scene.by(scene.eve)('POST', '/api/collaborations/join', { code });
  return id;
};
const openTerminal = ({ address, dbId, ada }: Scene) => terminalClient({ address, dbId, token: ada.token });
const openSsh = ({ address, dbId, ada }: Scene) => sshOverWebSocket(address, dbId, ada);
const recordOf = ({ service }: Scene, action: AuditAction) =>
  waitFor(() => records(service).some((one) => one.action === action));
const record = async (scene: Scene) => {
  await openTerminal(scene);
  return (await scene.by(scene.ada)('POST', box(scene, '/recordings'), {})).json();
};
const catalogue =
  (method: 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object): Example =>
  ({ by, root }) =>
    by(root)(method, `/api/admin/${url}`, payload);
const read =
  (url: string, headers: Record<string, string> = {}): Example =>
  ({ service, by, root }) => {
    service.clock.advance(11 * MINUTE_MS);
    return by(root)('GET', `/api/admin/${url}`, undefined, headers);
  };
const invite = async ({ by, root }: Scene) => (await by(root)('POST', '/api/admin/invitations', {})).json();
const announce = async ({ by, root }: Scene): Promise<string> => {
  const made = await by(root)('POST', '/api/admin/announcements', { text: 'Berth restarts tonight.' });
  return `/api/admin/announcements/${made.json().id}`;
};
const resetLink = async (
  { service, by, root, eve }: Scene,
  kind: 'password' | 'second_factor',
  id = eve.id,
) => {
  const admin = await again(service, root, 'root');
  return (await by(admin)('POST', `/api/admin/users/${id}/reset-links`, { kind })).json();
};
const codeIn = (url: string): string => url.split('#code=')[1] ?? '';
const reset = async (scene: Scene, kind: 'password' | 'second_factor', name: string) => {
  const { who } = await withMfa(scene.service, name);
  const code = codeIn((await resetLink(scene, kind, who.id)).url);
  return await from(scene.service)('/api/auth/resets/use', { code, password: person(name).password });
};
const removeNewcomer = async ({ service, by, root }: Scene, name: string) => {
  const { id } = await aPerson(service, name);
  return await by(await again(service, root, 'root'))('DELETE', `/api/admin/users/${id}`);
};
const passcode = { passcode: '1234' };
const secondSession = ({ service, ada }: Scene): Promise<Person> => again(service, ada, 'ada');
const deviceSignIn = async (scene: Scene, decide: 'approve' | 'deny') => {
  const { user_code } = (await from(scene.service)('/api/auth/device', { machine: 'laptop' })).json();
  const who = await secondSession(scene);
  return await scene.by(who)('POST', `/api/auth/device/${decide}`, { user_code });
};
const installing = async ({ by, root, ada, service }: Scene): Promise<string> => {
  await by(root)('POST', '/api/admin/roles', ROLE);
  const made = await by(ada)('POST', '/api/containers', { name: 'slow', role: ROLE.key, ...small });
  await service.roleSetups.idle();
  return `/api/containers/${made.json().db_id}/role-setup`;
};

const snapshotOf = (scene: Scene, name: string) =>
  scene.by(scene.ada)('POST', box(scene, '/snapshots'), { name });

/** A new agent of Ada's. Earlier ones are deleted. */
const agentOf = async ({ service, address, by, ada }: Scene) => {
  const { containers } = (await by(ada)('GET', '/api/containers')).json();
  for (const { id, agent } of containers) if (agent) await by(ada)('DELETE', `/api/containers/${id}`);
  const machine = aMachine();
  const agent = await connectMachine(address, (await anApiToken(service, ada)).token, machine);
  return { agent, id: `agent:${machine.id}` };
};

/** A new action without an example does not compile. */
const EXAMPLES: Readonly<Record<AuditAction, Example>> = {
  login: secondSession,
  login_failed: ({ service }) => from(service)('/api/auth/login', { email: 'ada', password: 'wrong' }),
  logged_out: async (scene) => scene.by(await secondSession(scene))('POST', '/api/auth/logout'),
  device_sign_in_approved: (scene) => deviceSignIn(scene, 'approve'),
  device_sign_in_denied: (scene) => deviceSignIn(scene, 'deny'),
  session_revoked: async (scene) => {
    const id = await sessionIdOf(scene.service, await secondSession(scene));
    return await scene.by(scene.ada)('DELETE', `/api/sessions/${id}`);
  },
  sessions_revoked_others: async (scene) => {
    await secondSession(scene);
    return await scene.by(scene.ada)('POST', '/api/sessions/revoke-others', {});
  },
  container_created: ({ by, eve }) => by(eve)('POST', '/api/containers', { name: 'dev', ...small }),
  container_stopped: (scene) => scene.by(scene.ada)('POST', box(scene, '/stop')),
  container_started: (scene) => scene.by(scene.ada)('POST', box(scene, '/start')),
  container_updated: (scene) => scene.by(scene.ada)('PATCH', box(scene), { name: 'new', ...small }),
  container_deleted: (scene) => scene.by(scene.ada)('DELETE', box(scene)),
  container_restored: async (scene) => {
    await scene.by(scene.ada)('POST', box(scene, '/restore'));
    return await scene.by(scene.ada)('POST', box(scene, '/start'));
  },
  container_over_share: async ({ service, by, ada, dbId }) => {
    const { id } = (await by(ada)('GET', `/api/containers/${dbId}`)).json();
    const { taken } = service.ports.kernelShares as ReturnType<typeof memoryKernelShares>;
    taken.set(id, { inotifyInstances: 1_000_000 });
    await service.watchKernelShares();
    taken.clear();
    return await by(ada)('POST', `/api/containers/${dbId}/start`);
  },
  lifetime_changed: (scene) => scene.by(scene.ada)('PATCH', box(scene, '/lifetime'), { idle_seconds: 600 }),
  container_purged: async ({ by, ada }) => {
    const { db_id } = (await by(ada)('POST', '/api/containers', { name: 'gone', ...small })).json();
    await by(ada)('DELETE', `/api/containers/${db_id}`);
    return await by(ada)('POST', `/api/containers/${db_id}/purge`, { name: 'gone' });
  },
  agent_enrolment_created: ({ by, ada }) => by(ada)('POST', '/api/agents/enrolments'),
  agent_enrolled: async ({ service, by, ada }) => {
    const { code } = (await by(ada)('POST', '/api/agents/enrolments')).json();
    return await from(service)('/api/agents/enrol', { code, agent: randomUUID(), name: 'laptop' });
  },
  agent_added: async (scene) => void (await agentOf(scene)),
  agent_connected: async (scene) => void (await agentOf(scene)),
  agent_disconnected: async (scene) => {
    const { agent } = await agentOf(scene);
    agent.socket.terminate();
    await waitFor(() => records(scene.service).at(-1)?.action === 'agent_disconnected');
  },
  agent_stopped: async (scene) => {
    const { id } = await agentOf(scene);
    return await scene.by(scene.ada)('POST', `/api/containers/${id}/stop`);
  },
  agent_deleted: async (scene) => {
    const { id } = await agentOf(scene);
    return await scene.by(scene.ada)('DELETE', `/api/containers/${id}`);
  },
  role_setup_retried: async (scene) => scene.by(scene.ada)('POST', `${await installing(scene)}/retry`),
  role_setup_cancelled: async (scene) => {
    const { containers } = (await scene.by(scene.ada)('GET', '/api/containers')).json();
    const { db_id } = containers.find(({ name }: { name: string }) => name === 'slow');
    await scene.by(scene.root)('PATCH', '/api/admin/roles/slow', { script: 'sleep 60' });
    await scene.by(scene.ada)('POST', `/api/containers/${db_id}/role-setup/retry`);
    return await scene.by(scene.ada)('POST', `/api/containers/${db_id}/role-setup/cancel`);
  },
  terminal_opened: openTerminal,
  terminal_closed: async (scene) => {
    const { terminals } = (await scene.by(scene.root)('GET', '/api/admin/terminals')).json();
    return await scene.by(scene.root)('DELETE', `/api/admin/terminals/${terminals[0].id}`);
  },
  recording_started: record,
  recording_deleted: async (scene) => {
    const { id } = await record(scene);
    return await scene.by(scene.ada)('DELETE', `/api/recordings/${id}`);
  },
  recording_downloaded: async (scene) => {
    const { id } = await record(scene);
    return await scene.by(scene.ada)('GET', `/api/recordings/${id}/cast`);
  },
  command_run: (scene) => scene.by(scene.ada)('POST', box(scene, '/exec'), { command: ['true'] }),
  ssh_connected: openSsh,
  port_forwarded: async (scene) => {
    (await openSsh(scene)).forwardOut('127.0.0.1', 1, 'localhost', 3000, () => {});
    await recordOf(scene, 'port_forwarded');
  },
  ssh_agent_forwarded: async (scene) => {
    (await openSsh(scene)).exec('true', () => {});
    await recordOf(scene, 'ssh_agent_forwarded');
  },
  ssh_disconnected: async (scene) => {
    (await openSsh(scene)).end();
    await recordOf(scene, 'ssh_disconnected');
  },
  ssh_refused: async ({ service, ada, t }) => (await sshByKey(t, service, ada, 'other')).end(),
  process_started: async (scene) => {
    const started = await scene.by(scene.ada)('POST', box(scene, '/processes'), {
      command: ['cat'],
      stdin: true,
    });
    startedProcess = started.json().id;
  },
  process_signalled: (scene) =>
    scene.by(scene.ada)('POST', box(scene, `/processes/${startedProcess}/signal`), { signal: 'INT' }),
  file_uploaded: (scene) => scene.by(scene.ada)('PUT', box(scene, '/files?path=notes'), {}),
  file_downloaded: (scene) => scene.by(scene.ada)('GET', box(scene, '/files?path=notes')),
  files_searched: (scene) =>
    scene.by(scene.ada)('POST', box(scene, '/files/search'), { pattern: 'x', path: 'notes' }),
  ports_listed: (scene) => scene.by(scene.ada)('GET', box(scene, '/ports')),
  file_deleted: (scene) => scene.by(scene.ada)('DELETE', box(scene, '/files?path=notes')),
  collaboration_started: share,
  collaboration_joined: joined,
  collaboration_left: async (scene) =>
    scene.by(scene.eve)('DELETE', `/api/collaborations/${await joined(scene)}`),
  collaboration_participant_removed: async (scene) =>
    scene.by(scene.ada)('DELETE', `/api/collaborations/${await joined(scene)}/participants/${scene.eve.id}`),
  collaboration_ended: async (scene) =>
    scene.by(scene.ada)('DELETE', `/api/collaborations/${(await share(scene)).id}`),
  token_created: ({ service, ada }) => anApiToken(service, ada),
  token_revoked: async ({ service, by, ada }) =>
    by(ada)('POST', `/api/tokens/${(await anApiToken(service, ada)).id}/revoke`),
  token_deleted: async ({ service, by, ada }) =>
    by(ada)('DELETE', `/api/tokens/${(await anApiToken(service, ada)).id}`),
  user_created: ({ by, root }) =>
    by(root)('POST', '/api/admin/users', { username: 'may', email: 'may@example.org' }),
  user_updated: async ({ by, root, eve }) => {
    const answer = await by(root)('PATCH', `/api/admin/users/${eve.id}`, { tier: 'pro', role: 'admin' });
    await by(root)('PATCH', `/api/admin/users/${eve.id}`, { role: 'user' });
    return answer;
  },
  invitation_created: (scene) => invite(scene),
  invitation_withdrawn: async (scene) =>
    scene.by(scene.root)('DELETE', `/api/admin/invitations/${(await invite(scene)).id}`),
  invitation_accepted: async (scene) => {
    const { url } = await invite(scene);
    const code = codeIn(url);
    return await from(scene.service)('/api/auth/invitations/accept', { code, ...person('kim') });
  },
  reset_link_created: (scene) => resetLink(scene, 'password'),
  reset_link_withdrawn: async (scene) =>
    scene.by(scene.root)('DELETE', `/api/admin/reset-links/${(await resetLink(scene, 'password')).id}`),
  ssh_key_added: ({ by, ada }) =>
    by(ada)('POST', '/api/me/ssh-keys', { public_key: `${type} ${base64}`, name: 'laptop' }),
  ssh_key_removed: async ({ by, ada }) => {
    const [{ id }] = (await by(ada)('GET', '/api/me/ssh-keys')).json().ssh_keys;
    return await by(ada)('DELETE', `/api/me/ssh-keys/${id}`);
  },
  announcement_created: (scene) => announce(scene),
  announcement_updated: async (scene) =>
    scene.by(scene.root)('PATCH', await announce(scene), { severity: 'warning' }),
  announcement_deleted: async (scene) => scene.by(scene.root)('DELETE', await announce(scene)),
  settings_updated: ({ by, root }) => by(root)('PATCH', '/api/admin/settings', { retention_days: 6 }),
  tier_created: catalogue('POST', 'tiers', { name: 'tiny', ...tier, max_containers: 1, max_agents: 0 }),
  tier_updated: catalogue('PATCH', 'tiers/tiny', { max_containers: 2 }),
  tier_deleted: catalogue('DELETE', 'tiers/tiny'),
  image_created: catalogue('POST', 'images', {
    key: 'alpine',
    label: 'Alpine',
    reference: 'alpine:3.20',
    digest: null,
    shell: '/bin/ash',
  }),
  image_updated: catalogue('PATCH', 'images/alpine', { label: 'Small' }),
  image_deleted: catalogue('DELETE', 'images/alpine'),
  role_created: catalogue('POST', 'roles', { key: 'ruby', label: 'Ruby', packages: { apt: ['ruby'] } }),
  role_updated: catalogue('PATCH', 'roles/ruby', { label: 'Rubies' }),
  role_deleted: catalogue('DELETE', 'roles/ruby'),
  mfa_enabled: ({ service }) => withMfa(service, 'mia'),
  recovery_codes_replaced: ({ by, bob, codeOfBob }) =>
    by(bob.who)('POST', '/api/me/mfa/recovery-codes', { code: codeOfBob() }),
  confirmation_failed: ({ by, bob }) => by(bob.who)('DELETE', '/api/me/mfa', { code: '000000' }),
  recovery_code_used: async ({ service }) => {
    const { recoveryCodes } = await withMfa(service, 'max');
    const { mfa_token } = (await logIn(service, 'max')).json();
    return await from(service)('/api/auth/mfa', { mfa_token, code: recoveryCodes[0] });
  },
  mfa_disabled: ({ by, bob, codeOfBob }) => by(bob.who)('DELETE', '/api/me/mfa', { code: codeOfBob() }),
  passkey_added: ({ service, bob }) => register(service, bob.who),
  passkey_renamed: async ({ by, bob }) => {
    const [{ id }] = (await by(bob.who)('GET', '/api/me/passkeys')).json().passkeys;
    return await by(bob.who)('PATCH', `/api/me/passkeys/${id}`, { name: 'desk' });
  },
  passkey_removed: async ({ by, bob }) => {
    const [{ id }] = (await by(bob.who)('GET', '/api/me/passkeys')).json().passkeys;
    return await by(bob.who)('DELETE', `/api/me/passkeys/${id}`);
  },
  identity_linked: (scene) => atProvider(scene, 'link', { sub: 'ada' }, scene.ada),
  identity_unlinked: async ({ by, ada }) => {
    const [{ id }] = (await by(ada)('GET', '/api/me/identities')).json().identities;
    return await by(ada)('DELETE', `/api/me/identities/${id}`);
  },
  passcode_changed: ({ by, ada }) => by(ada)('PUT', '/api/me/lock', passcode),
  screen_locked: ({ by, ada }) => by(ada)('POST', '/api/sessions/lock'),
  screen_unlock_failed: ({ by, ada }) => by(ada)('POST', '/api/sessions/unlock', { passcode: '4321' }),
  screen_unlocked: ({ by, ada }) => by(ada)('POST', '/api/sessions/unlock', passcode),
  passcode_removed: ({ by, ada }) =>
    by(ada)('DELETE', '/api/me/lock', { current_passcode: passcode.passcode }),
  password_changed: ({ by, ada }) =>
    by(ada)('POST', '/api/me/password', {
      old_password: 'correct horse battery',
      new_password: 'battery horse correct',
    }),
  // A view is recorded once in ten minutes.
  second_factor_reset: (scene) => reset(scene, 'second_factor', 'noa'),
  password_reset: (scene) => reset(scene, 'password', 'pia'),
  container_transferred: async (scene) => {
    const fay = await aPerson(scene.service, 'fay');
    await scene.by(fay)('POST', '/api/containers', { name: 'hers', ...small });
    const admin = await again(scene.service, scene.root, 'root');
    const plan = { containers: 'transfer', to: scene.eve.id };
    return await scene.by(admin)('DELETE', `/api/admin/users/${fay.id}`, plan);
  },
  user_deletion_started: (scene) => removeNewcomer(scene, 'gil'),
  user_deleted: (scene) => removeNewcomer(scene, 'hal'),
  account_ended: async ({ service, by, root }) => {
    const ends_at = new Date(service.clock.now().getTime() + MINUTE_MS).toISOString();
    await by(root)('POST', '/api/admin/users', { email: 'ivo@example.org', username: 'ivo', ends_at });
    service.clock.advance(2 * MINUTE_MS);
    return await service.endAccounts();
  },
  users_listed: read('users'),
  containers_listed: read('containers'),
  terminals_listed: read('terminals'),
  usage_listed: read('usage'),
  audit_listed: read('audit'),
  audit_exported: read('audit', { accept: 'text/csv' }),
  snapshot_created: (scene) => snapshotOf(scene, 'base'),
  snapshot_deleted: async (scene) => {
    const { id } = (await snapshotOf(scene, 'old')).json();
    return await scene.by(scene.ada)('DELETE', `/api/snapshots/${id}`);
  },
  snapshot_restored: async (scene) => {
    const { id } = (await snapshotOf(scene, 'back')).json();
    await scene.by(scene.ada)('DELETE', `/api/snapshots/${id}`);
    const restored = await scene.by(scene.ada)('POST', `/api/snapshots/${id}/restore`, {});
    await scene.by(scene.ada)('DELETE', `/api/snapshots/${id}`);
    return restored;
  },
  snapshot_given_up: async (scene) => {
    const { by, root, ada, service } = scene;
    const { id: runtimeId } = (await by(ada)('GET', box(scene))).json();
    (service.ports.runtime as MemoryRuntime).layers.set(runtimeId, 1_048_576);
    await by(root)('PATCH', '/api/admin/tiers/free', { snapshot_mb: 70 });
    for (const name of ['one', 'two']) {
      const { id } = (await snapshotOf(scene, name)).json();
      await by(ada)('DELETE', `/api/snapshots/${id}`);
    }
    return await snapshotOf(scene, 'three');
  },
  snapshot_removed: async ({ service }) => await service.collectVolumes(),
  volume_removed: async (scene) => {
    const { service, by, eve } = scene;
    const { containers } = (await by(eve)('GET', '/api/containers')).json();
    for (const { db_id } of containers) await by(eve)('DELETE', `/api/containers/${db_id}`);
    for (const hours of [7 * 24, 25]) {
      service.clock.advance(hours * HOUR_MS);
      await service.collectVolumes();
    }
  },
};

/** A record's actor, and its details without ids and times. */
const shape = ({ userId, details }: AuditRecord, { root, ada, bob, eve, dbId, provider }: Scene): string => {
  const names: Record<string, string> = {
    [root.id]: 'root',
    [ada.id]: 'ada',
    [bob.who.id]: 'bob',
    [eve.id]: 'eve',
    [dbId]: 'box',
  };
  const plain = details
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => names[id] ?? 'ID')
    .replace(provider.issuer, 'https://id.example.org')
    .replace(/svc_[A-Za-z0-9_-]{8}/g, 'PREFIX')
    .replace(/"ssh_key":"[^"]+"/, '"ssh_key":"KEY"');
  return `${names[userId ?? ''] ?? 'other'}: ${plain}`;
};

t.test('every audit action is recorded, with actor and subject', async (t) => {
  const scene = await aScene(t);
  for (const [action, example] of Object.entries(EXAMPLES)) {
    const before = records(scene.service).length;
    const answer = (await example(scene)) as { statusCode?: number; body?: string } | undefined;
    const recorded = records(scene.service).slice(before);
    const found = recorded.find((one) => one.action === action);
    const names = recorded.map((one) => one.action);
    t.equal(
      found && shape(found, scene),
      RECORDED[action as AuditAction],
      `${action}: ${answer?.statusCode} ${answer?.body} ${names}`,
    );
  }
});
