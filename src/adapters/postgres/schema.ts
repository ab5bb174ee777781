import type { ColumnType, Generated } from 'kysely';
import type { ContainerState } from '../../domain/container.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Scope } from '../../domain/scope.ts';
import type { UserRole } from '../../domain/user.ts';
import type { OperationOutcome } from '../../ports/operation-repository.ts';
import type { PendingPurpose } from '../../ports/pending-repository.ts';

type Defaulted<T> = ColumnType<T, T | undefined, T>;
type Json<T> = ColumnType<T, string, string>;

export type TierRow = {
  name: string;
  position: number;
  min_memory_mb: number;
  max_memory_mb: number;
  min_cpu_millicores: number;
  max_cpu_millicores: number;
  min_disk_mb: number;
  max_disk_mb: number;
  max_containers: number;
  max_agents: number;
};

export type ImageRow = {
  key: string;
  label: string;
  reference: string;
  digest: string | null;
  shell: string;
};

export type RoleRow = { key: string; label: string };

type SettingsTable = { key: string; value: Json<unknown>; updated_at: Defaulted<Date> };

type InstallationTable = { only_row: Generated<boolean>; id: string; setup_code_hash: Buffer | null };

export type UsersTable = {
  id: Generated<string>;
  email: string | null;
  username: string;
  password_hash: string | null;
  role: UserRole;
  tier: string;
  created_at: Generated<Date>;
  disabled_at: Date | null;
  guest_until: Date | null;
  passcode_hash: string | null;
  auto_lock_minutes: number | null;
};

export type SessionsTable = {
  id: Generated<string>;
  user_id: string;
  created_at: Generated<Date>;
  last_seen_at: Defaulted<Date>;
  expires_at: Date;
  ip_address: string;
  user_agent: string;
  revoked_at: Date | null;
  revoked_reason: string | null;
  locked_at: Date | null;
  wrong_passcodes: Generated<number>;
};

type RefreshTokensTable = {
  hash: Buffer;
  session_id: string;
  created_at: Generated<Date>;
  spent_at: Date | null;
  spent_by: string | null;
};

export type ContainersTable = {
  db_id: string;
  owner_id: string;
  name: string;
  image_key: string;
  image: string;
  shell: string;
  role: string;
  memory_mb: number;
  cpu_millicores: number;
  disk_mb: number;
  env: Json<Record<string, string>>;
  state: ContainerState;
  state_reason: string | null;
  generation: Generated<number>;
  node: string;
  runtime_id: string | null;
  volume: string;
  created_at: Generated<Date>;
  last_used_at: Date | null;
  started_at: Date | null;
  deleted_at: Date | null;
};

export type AuditRecordsTable = {
  id: Generated<string>;
  user_id: string | null;
  action: string;
  ip_address: string;
  user_agent: string;
  details: string;
  created_at: Generated<Date>;
};

export type OperationsTable = {
  id: string;
  db_id: string;
  kind: Operation['kind'];
  phase: Operation['phase'];
  before: Json<Operation['before']>;
  target: Json<Operation['target']>;
  carry_over: boolean;
  verified: boolean;
  volume_kept: boolean | null;
  fresh_runtime_id: string | null;
  fresh_image: string | null;
  step: Generated<string>;
  requested_by: string;
  ip_address: string;
  user_agent: string;
  lease_owner: string;
  lease_until: Date;
  created_at: Generated<Date>;
  finished_at: Date | null;
  outcome: OperationOutcome | null;
};

type EventsTable = {
  position: Generated<string>;
  db_id: string;
  owner_id: string;
  type: string;
  data: Json<Record<string, unknown>>;
  created_at: Generated<Date>;
};

type TotpFactorsTable = {
  user_id: string;
  sealed_secret: Buffer;
  created_at: Defaulted<Date>;
  confirmed_at: Date | null;
  last_step: Generated<number>;
};

type RecoveryCodesTable = { user_id: string; hash: Buffer; used_at: Date | null };

export type PasskeysTable = {
  id: Generated<string>;
  user_id: string;
  name: string;
  credential_id: string;
  public_key: Buffer;
  /** bigint, which pg reads as text. */
  counter: ColumnType<string, number, number>;
  transports: Json<readonly string[]>;
  backed_up: boolean;
  created_at: Generated<Date>;
  last_used_at: Date | null;
};

type PendingProofsTable = {
  hash: Buffer;
  purpose: PendingPurpose;
  user_id: string | null;
  expires_at: Date;
  tries: Generated<number>;
};

type FailuresTable = { key: Buffer; count: number; at: Date };
export type ApiTokensTable = {
  id: Generated<string>;
  user_id: string;
  name: string;
  hash: Buffer;
  prefix: string;
  scopes: Scope[];
  created_at: Generated<Date>;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
};

type RequestCountsTable = { key: string; minute: number; count: number };

export type TerminalRecordsTable = {
  id: string;
  user_id: string;
  container_id: string;
  created_at: Generated<Date>;
  last_ping_at: Defaulted<Date>;
};

export type SshKeysTable = {
  id: Generated<string>;
  user_id: string;
  name: string;
  type: string;
  public_key: string;
  fingerprint: string;
  created_at: Generated<Date>;
};

export type Database = {
  operations: OperationsTable;
  events: EventsTable;
  orphans: { runtime_id: string; seen_at: Generated<Date> };
  tiers: TierRow;
  images: ImageRow;
  roles: RoleRow;
  settings: SettingsTable;
  installation: InstallationTable;
  users: UsersTable;
  sessions: SessionsTable;
  refresh_tokens: RefreshTokensTable;
  containers: ContainersTable;
  audit_records: AuditRecordsTable;
  totp_factors: TotpFactorsTable;
  recovery_codes: RecoveryCodesTable;
  passkeys: PasskeysTable;
  pending_proofs: PendingProofsTable;
  failures: FailuresTable;
  api_tokens: ApiTokensTable;
  request_counts: RequestCountsTable;
  terminal_records: TerminalRecordsTable;
  ssh_keys: SshKeysTable;
};
