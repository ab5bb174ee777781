/** Users, their credentials, and counters of their tries. */
import type { ColumnType, Generated } from 'kysely';
import type { DeviceDecision } from '../../../domain/identity/device-sign-in.ts';
import type { LinkKind } from '../../../domain/identity/people/account-link.ts';
import type { ContainerPlan } from '../../../domain/identity/people/user-removal.ts';
import type { Scope } from '../../../domain/identity/scope.ts';
import type { TokenEnd } from '../../../domain/identity/token.ts';
import type { UserRole } from '../../../domain/identity/user.ts';
import type { PendingPurpose } from '../../../ports/identity/pending-proof-repository.ts';
import type { Defaulted, Json } from './column-types.ts';
import type { StoredProviderSession } from './openid-tables.ts';

export type UsersTable = {
  id: Generated<string>;
  email: string | null;
  username: string;
  password_hash: string | null;
  role: UserRole;
  tier: string;
  created_at: Generated<Date>;
  disabled_at: Date | null;
  disabled_reason: string | null;
  deleted_at: Date | null;
  guest_until: Date | null;
  ends_at: Date | null;
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
  signed_in_at: Date | null;
  confirmed_at: Date | null;
  barred_until: Date | null;
};

type RefreshTokensTable = {
  hash: Buffer;
  session_id: string;
  created_at: Generated<Date>;
  spent_at: Date | null;
  spent_by: string | null;
};

export type TotpFactorsTable = {
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
  provider: Json<StoredProviderSession> | null;
};

export type DeviceSignInsTable = {
  device_hash: Buffer;
  user_code_hash: Buffer;
  machine: string;
  ip_address: string;
  address_group: Generated<string>;
  user_agent: string;
  started_at: Generated<Date>;
  expires_at: Date;
  polled_at: Date | null;
  decision: DeviceDecision['kind'] | null;
  user_id: string | null;
  session_id: string | null;
};

export type AccountLinksTable = {
  id: Generated<string>;
  code_hash: Buffer;
  kind: LinkKind;
  role: UserRole | null;
  tier: string | null;
  email: string | null;
  username: string | null;
  user_id: string | null;
  created_by: string;
  created_at: Generated<Date>;
  expires_at: Date;
  used_at: Date | null;
  withdrawn_at: Date | null;
  account_ends_at: Date | null;
};

export type UserRemovalsTable = {
  user_id: string;
  containers: ContainerPlan['kind'];
  to_user: string | null;
  requested_by: string;
  ip_address: string;
  user_agent: string;
  requested_at: Generated<Date>;
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
  parent_id: string | null;
  depth: Generated<number>;
  containers: string[] | null;
  max_uses: number | null;
  uses_left: number | null;
  revoked_reason: TokenEnd | null;
};

type RequestCountsTable = { key: string; minute: number; count: number };

type IdempotencyKeysTable = {
  user_id: string;
  route: string;
  key: string;
  body_hash: Buffer;
  holder: string;
  lease_until: Date;
  subject: string | null;
  status: number | null;
  answer: Json<Record<string, unknown>> | null;
  created_at: Generated<Date>;
};

export type SshKeysTable = {
  id: Generated<string>;
  user_id: string;
  name: string;
  type: string;
  public_key: string;
  fingerprint: string;
  created_at: Generated<Date>;
  last_used_at: Date | null;
};

type SshHostKeysTable = {
  type: string;
  public_key: string;
  sealed_private_key: Buffer;
  created_at: Generated<Date>;
};

export type IdentityTables = {
  users: UsersTable;
  sessions: SessionsTable;
  refresh_tokens: RefreshTokensTable;
  totp_factors: TotpFactorsTable;
  recovery_codes: RecoveryCodesTable;
  passkeys: PasskeysTable;
  pending_proofs: PendingProofsTable;
  device_sign_ins: DeviceSignInsTable;
  account_links: AccountLinksTable;
  user_removals: UserRemovalsTable;
  failures: FailuresTable;
  api_tokens: ApiTokensTable;
  request_counts: RequestCountsTable;
  idempotency_keys: IdempotencyKeysTable;
  ssh_keys: SshKeysTable;
  ssh_host_keys: SshHostKeysTable;
};
