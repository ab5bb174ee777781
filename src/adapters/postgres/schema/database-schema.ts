import type { Generated, Kysely } from 'kysely';
import type { Role } from '../../../domain/containers/catalogue.ts';
import type { EventAudience } from '../../../domain/events.ts';
import type { Defaulted, Json } from './column-types.ts';
import type {
  AgentEnrolmentsTable,
  AgentsTable,
  CommandRunsTable,
  ContainerActivityTable,
  ContainersTable,
  LayerImagesTable,
  OperationsTable,
  ProcessesTable,
  ProcessOutputsTable,
  SnapshotsTable,
  WarmPoolTable,
} from './container-tables.ts';
import type {
  AccountLinksTable,
  ApiTokensTable,
  DeviceSignInsTable,
  FailuresTable,
  IdempotencyKeysTable,
  PasskeysTable,
  PendingProofsTable,
  RecoveryCodesTable,
  RefreshTokensTable,
  RequestCountsTable,
  SessionsTable,
  SshHostKeysTable,
  SshKeysTable,
  TotpFactorsTable,
  UserRemovalsTable,
  UsersTable,
} from './identity-tables.ts';
import type {
  IdentitiesTable,
  ProviderSessionsTable,
  ProviderSignInsTable,
  UsedLogoutTokensTable,
} from './openid-tables.ts';
import type { AnnouncementsTable, HealthOutagesTable, ReplicaReportsTable } from './service-tables.ts';
import type {
  CollaborationParticipantsTable,
  CollaborationsTable,
  RecordingsTable,
  ReplicaRunsTable,
  TerminalLeasesTable,
  TerminalRecordsTable,
} from './terminal-tables.ts';

export type UseLimitsRow = {
  requests_per_minute: number;
  max_terminals: number;
  max_event_sockets: number;
  max_commands: number;
  max_uploads: number;
  max_downloads: number;
};

export type TierRow = {
  name: string;
  min_memory_mb: number;
  max_memory_mb: number;
  min_cpu_millicores: number;
  max_cpu_millicores: number;
  min_disk_mb: number;
  max_disk_mb: number;
  layer_mb: number;
  max_containers: number;
  max_agents: number;
  max_snapshots: number;
  snapshot_mb: number;
  max_ttl_seconds: number;
  max_idle_seconds: number;
} & UseLimitsRow;

export type ImageRow = {
  key: string;
  label: string;
  reference: string;
  digest: string | null;
  shell: string;
};

export type RolesTable = {
  key: string;
  label: string;
  packages: Json<Role['packages']>;
  script: string | null;
};

type SettingsTable = { key: string; value: Json<unknown>; updated_at: Defaulted<Date> };

type InstallationTable = { only_row: Generated<boolean>; id: string; setup_code_hash: Buffer | null };

export type AuditRecordsTable = {
  id: Generated<string>;
  user_id: string | null;
  action: string;
  ip_address: string;
  user_agent: string;
  details: string;
  created_at: Generated<Date>;
};

export type AuditChainTable = {
  /** bigint, as text. */
  seq: string;
  record_id: string;
  hash: Buffer;
};

type EventsTable = {
  position: Generated<string>;
  xid: Generated<string>;
  db_id: string;
  owner_id: string | null;
  audience: EventAudience | null;
  type: string;
  data: Json<Record<string, unknown>>;
  created_at: Generated<Date>;
};

export type Database = {
  operations: OperationsTable;
  warm_pool: WarmPoolTable;
  events: EventsTable;
  orphans: { runtime_id: string; seen_at: Generated<Date> };
  tiers: TierRow;
  images: ImageRow;
  roles: RolesTable;
  settings: SettingsTable;
  announcements: AnnouncementsTable;
  replica_reports: ReplicaReportsTable;
  health_outages: HealthOutagesTable;
  installation: InstallationTable;
  users: UsersTable;
  sessions: SessionsTable;
  refresh_tokens: RefreshTokensTable;
  containers: ContainersTable;
  container_activity: ContainerActivityTable;
  agents: AgentsTable;
  agent_enrolments: AgentEnrolmentsTable;
  carried_images: LayerImagesTable;
  snapshots: SnapshotsTable;
  audit_records: AuditRecordsTable;
  audit_chain: AuditChainTable;
  audit_unsealed: { record_id: string; created_at: Date };
  totp_factors: TotpFactorsTable;
  recovery_codes: RecoveryCodesTable;
  passkeys: PasskeysTable;
  pending_proofs: PendingProofsTable;
  identities: IdentitiesTable;
  provider_sign_ins: ProviderSignInsTable;
  provider_sessions: ProviderSessionsTable;
  used_logout_tokens: UsedLogoutTokensTable;
  device_sign_ins: DeviceSignInsTable;
  account_links: AccountLinksTable;
  user_removals: UserRemovalsTable;
  failures: FailuresTable;
  api_tokens: ApiTokensTable;
  request_counts: RequestCountsTable;
  idempotency_keys: IdempotencyKeysTable;
  terminal_records: TerminalRecordsTable;
  recordings: RecordingsTable;
  terminal_holds: TerminalLeasesTable;
  replica_runs: ReplicaRunsTable;
  processes: ProcessesTable;
  process_outputs: ProcessOutputsTable;
  command_runs: CommandRunsTable;
  ssh_keys: SshKeysTable;
  ssh_host_keys: SshHostKeysTable;
  collaborations: CollaborationsTable;
  collaboration_participants: CollaborationParticipantsTable;
};

export type Db = Kysely<Database>;
