import type { Generated, Kysely } from 'kysely';
import type { Role } from '../../../domain/containers/catalogue.ts';
import type { EventAudience } from '../../../domain/events.ts';
import type { Defaulted, Json } from './column-types.ts';
import type { ContainerTables } from './container-tables.ts';
import type { IdentityTables } from './identity-tables.ts';
import type { OpenIdTables } from './openid-tables.ts';
import type { ServiceTables } from './service-tables.ts';
import type { TerminalTables } from './terminal-tables.ts';

export type UseLimitsRow = {
  requests_per_minute: number;
  max_terminals: number;
  max_event_sockets: number;
  max_commands: number;
  max_uploads: number;
  max_downloads: number;
};

export type TierRow = UseLimitsRow & {
  name: string;
  layer_mb: number;
  max_containers: number;
  max_agents: number;
  max_snapshots: number;
  snapshot_mb: number;
  max_ttl_seconds: number;
  max_idle_seconds: number;
  min_memory_mb: number;
  max_memory_mb: number;
  min_cpu_millicores: number;
  max_cpu_millicores: number;
  min_disk_mb: number;
  max_disk_mb: number;
};

type ImagesTable = { key: string; label: string; reference: string; digest: string | null; shell: string };

export type RolesTable = {
  key: string;
  label: string;
  packages: Json<Role['packages']>;
  script: string | null;
};

type SettingsTable = { key: string; value: Json<unknown>; updated_at: Defaulted<Date> };

type InstallationTable = {
  only_row: Generated<boolean>;
  id: string;
  setup_code_hash: Buffer | null;
  swarm_id: string | null;
  left_swarms: Generated<boolean>;
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

type OtherTables = {
  events: EventsTable;
  orphans: { runtime_id: string; seen_at: Generated<Date> };
  tiers: TierRow;
  images: ImagesTable;
  roles: RolesTable;
  settings: SettingsTable;
  installation: InstallationTable;
  audit_records: AuditRecordsTable;
  audit_chain: AuditChainTable;
  audit_unsealed: { record_id: string; created_at: Date };
};

export type Database = ContainerTables &
  IdentityTables &
  OpenIdTables &
  ServiceTables &
  TerminalTables &
  OtherTables;

export type Db = Kysely<Database>;
