import type { Document } from './document.ts';

const ID = '0c9e3f7a-5b1d-4c1e-9a70-2f6f4a1b8d10';
const RUNTIME_ID = '3f2a9c0d4e5b6a7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7';
const TIME = '2026-03-01T12:00:00.000Z';
const LATER = '2026-05-30T12:00:00.000Z';
const PREFIX = 'svc_4f1d2c3b';
const RESOURCES = { memory_mb: 1024, cpu_shares: 1000, disk_mb: 4096 };

const token = {
  token_prefix: PREFIX,
  expires_at: LATER,
  id: ID,
  name: 'ci',
  scopes: ['read', 'write'],
  created_at: TIME,
};
const lineage = { parent_id: null, containers: [ID], max_uses: null, uses_left: null };
const user = {
  id: ID,
  email: 'ada@example.org',
  username: 'ada',
  role: 'user',
  tier: 'free',
  created_at: TIME,
  disabled_at: null,
  ends_at: null,
};
const person = { email: user.email, username: user.username, password: 'correct horse battery' };
const container = {
  id: RUNTIME_ID,
  db_id: ID,
  name: 'dev',
  image: 'debian',
  status: 'running',
  status_reason: null,
  role: 'standard',
  resources: RESOURCES,
  created_at: TIME,
  last_used_at: null,
  started_at: TIME,
  volume: { name: `berth-${ID}`, size_mb: 4096, used_mb: null, quota: 'hard' },
  layer: { limit_mb: 2048, used_mb: null },
  owner: { id: ID, username: 'ada' },
  role_setup: { status: 'none', detail: null },
  labels: {},
  lifetime: null,
};
const changed = { id: RUNTIME_ID, name: 'dev' };

/** By schema. They are checked against their schemas by a test and by the linters. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  ApiToken: { ...token, last_used_at: null, revoked_at: null, revoked_reason: null, ...lineage },
  ApiTokenCreated: { token: `${PREFIX}${'0'.repeat(56)}`, ...token },
  ChildTokenCreated: { token: `${PREFIX}${'0'.repeat(56)}`, ...token, ...lineage },
  ChildTokenRequest: { name: 'assistant', scopes: ['read'], containers: ['dev'], expires_in_minutes: 30 },
  ApiTokenRequest: { name: 'ci', scopes: ['read', 'write'], expires_in: 90 },
  ApiTokenRevoked: { id: ID, revoked: true, revoked_at: TIME },
  ApiTokenDeleted: { id: ID, deleted: true },
  LoginRequest: { email: person.email, password: person.password },
  RegisterRequest: person,
  SignedIn: { token: 'eyJhbGciOi…', expires_at: TIME, session_id: ID, user },
  User: user,
  PasswordChange: { old_password: person.password, new_password: 'a new one, longer than before' },
  PasscodeRequest: { passcode: '1234' },
  RevokeRequest: { reason: 'lost my laptop' },
  Container: container,
  CreateContainerRequest: { name: 'dev', image: 'debian', role: 'node', ...RESOURCES },
  UpdateContainerRequest: { name: 'dev', ...RESOURCES },
  ContainerUpdated: { message: 'settings updated', restarted: true, container },
  ContainerStarted: { message: 'container started', ...changed, status: 'running' },
  ContainerStopped: { message: 'container stopped', ...changed, status: 'stopped' },
  ContainerDeleted: { message: 'container deleted', ...changed, db_id: ID },
  SnapshotRequest: { name: 'base', note: 'before the upgrade', labels: { team: 'a' } },
  ForkRequest: { count: 2, ephemeral: true, ttl_seconds: 900 },
  PurgeRequest: { name: 'dev' },
  ContainerTransferRequest: { to: ID, name: 'dev-of-ada' },
  FileSearchRequest: { path: 'src', pattern: 'TODO', include: '*.ts' },
  LifetimeRequest: { idle_seconds: 1800, keep_seconds: 3600 },
  ExecRequest: { command: ['node', '--version'], timeout_seconds: 10 },
  ExecResult: { exit_code: 0, stdout: 'v24.1.0\n', stderr: '', truncated: false, duration_ms: 41.5 },
  ShareRequest: { mode: 'view', expires_in_minutes: 60 },
  JoinRequest: { code: 'k7Qd2m…' },
  SshKeyRequest: {
    name: 'laptop',
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII6qsNiqszDMBVHGsBqMEc6rZ0zML+nyd50qTVN4w4TR ada@laptop',
  },
  NewTierRequest: {
    name: 'small',
    memory_mb: { min: 256, max: 1024 },
    cpu_shares: { min: 100, max: 1000 },
    disk_mb: { min: 512, max: 4096 },
    max_containers: 2,
    max_agents: 0,
  },
  NewImageRequest: {
    key: 'alpine',
    label: 'Alpine',
    reference: 'docker.io/library/alpine:3.22',
    shell: '/bin/sh',
  },
  ImageChangeRequest: { label: 'Debian' },
  NewRoleRequest: { key: 'ruby', label: 'Ruby', packages: { apt: ['ruby'] } },
  UserChangeRequest: { tier: 'pro' },
  NewUserRequest: { email: person.email, username: person.username, tier: 'pro' },
  InvitationRequest: { role: 'user', tier: 'pro', email: person.email, expires_in_hours: 72 },
  ResetLinkRequest: { kind: 'password' },
  NewAnnouncementRequest: { text: 'Berth restarts tonight at 22:00.', severity: 'warning', ends_at: LATER },
  AnnouncementChangeRequest: { ends_at: LATER },
  SettingsChange: { open_registration: false },
};

export function addExamples({ components: { schemas } }: Document): void {
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`an example of ${name}, which is no schema`);
    schema['examples'] = [example];
  }
}
