/** Containers, agents, their operations and processes. */
import type { ColumnType, Generated } from 'kysely';
import type { AgentState } from '../../../domain/containers/agents/agent.ts';
import type { ContainerState } from '../../../domain/containers/container.ts';
import type { LossReport } from '../../../domain/containers/layer/loss-report.ts';
import type { Labels } from '../../../domain/containers/lifetime/labels.ts';
import type { EndAction } from '../../../domain/containers/lifetime/lifetime.ts';
import type { Operation } from '../../../domain/containers/operation.ts';
import type { EndReason, ProcessState } from '../../../domain/containers/processes/process.ts';
import type { RoleSetup } from '../../../domain/containers/role-setup.ts';
import type { SnapshotState } from '../../../domain/containers/snapshots/snapshot.ts';
import type { PoolMember } from '../../../domain/containers/warm-pool.ts';
import type { EngineRefusal } from '../../../domain/errors.ts';
import type { OperationOutcome } from '../../../ports/containers/operation-repository.ts';
import type { Defaulted, Json } from './column-types.ts';

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
  role_setup_status: Defaulted<RoleSetup['status']>;
  role_setup_detail: string | null;
  role_setup_id: string | null;
  role_setup_owner: string | null;
  role_setup_until: Date | null;
  role_setup_begun_at: Date | null;
  disk_quota: Generated<'hard' | 'soft'>;
  disk_used_mb: Generated<number | null>;
  layer_used_mb: Generated<number | null>;
  disk_measured_at: Generated<Date | null>;
  volume_condemned_at: Date | null;
  volume_claimed_at: Date | null;
  volume_removed_at: Date | null;
  volume_purged_at: Date | null;
  labels: ColumnType<Labels, string | undefined, string>;
  ephemeral: Generated<boolean>;
  ends_at: Date | null;
  idle_seconds: number | null;
  on_idle: Generated<EndAction>;
  kept_until: Date | null;
  warned_end: Date | null;
  warned_lead: number | null;
  warned_at: Date | null;
};

type ContainerActivityTable = { db_id: string; kind: string; last_at: Date };

export type AgentsTable = {
  db_id: string;
  owner_id: string;
  machine_id: string;
  platform: string;
  state: AgentState['kind'];
  epoch: number;
  replica: string | null;
  last_seen_at: Defaulted<Date>;
};

type AgentEnrolmentsTable = { code_hash: Buffer; user_id: string; expires_at: Date };

type LayerImagesTable = {
  db_id: string;
  image: string;
  changes: Json<LossReport | null> | null;
  captured_at: Defaulted<Date>;
};

export type SnapshotsTable = {
  id: string;
  owner_id: string;
  db_id: string;
  container_name: string;
  name: string;
  note: string;
  labels: Json<Labels>;
  state: Defaulted<SnapshotState>;
  image_key: string;
  image: string;
  shell: string;
  role: string;
  role_setup_status: RoleSetup['status'];
  memory_mb: number;
  cpu_millicores: number;
  disk_mb: number;
  layer_image: string | null;
  layer_changes: Json<LossReport | null> | null;
  volume: string;
  layer_mb: number;
  volume_mb: number;
  fork_ids: string[] | null;
  created_at: Generated<Date>;
  deleted_at: Date | null;
  condemned_at: Date | null;
  purged_at: Date | null;
  claimed_at: Date | null;
  removed_at: Date | null;
};

export type OperationsTable = {
  id: string;
  db_id: string;
  kind: Operation['kind'];
  phase: Operation['phase'];
  lease_number: Defaulted<number>;
  before: Json<Operation['before']>;
  target: Json<Operation['target']>;
  carry_over: boolean;
  verified: boolean;
  unfitted: Defaulted<boolean>;
  was_down: Defaulted<boolean>;
  volume_kept: boolean | null;
  fresh_runtime_id: string | null;
  fresh_image: string | null;
  measured: boolean;
  left_behind: Json<LossReport | null> | null;
  refusal: Json<EngineRefusal | null> | null;
  step: Generated<string>;
  requested_by: string | null;
  ip_address: string;
  user_agent: string;
  reason: string | null;
  lease_owner: string;
  lease_until: Date;
  created_at: Generated<Date>;
  finished_at: Date | null;
  outcome: OperationOutcome | null;
  new_owner_id: string | null;
  snapshot_id: string | null;
  paused: Defaulted<boolean>;
  volume_copied: Defaulted<boolean>;
};

export type WarmPoolTable = {
  db_id: string;
  state: PoolMember['state'];
  node: string;
  image: string;
  image_id: string;
  memory_mb: number;
  cpu_millicores: number;
  disk_mb: number;
  volume: string;
  runtime_id: string | null;
  disk_quota: Defaulted<'hard' | 'soft' | null>;
  lease_owner: string;
  lease_until: Date;
  created_at: Generated<Date>;
};

export type ProcessOutputsTable = {
  process_id: string;
  owner_id: string;
  stdout: Buffer;
  stdout_first: ColumnType<string, number, number>;
  stderr: Buffer;
  stderr_first: ColumnType<string, number, number>;
  is_whole: boolean;
  stored_at: Generated<Date>;
};

export type ProcessesTable = {
  id: string;
  db_id: string;
  user_id: string;
  runtime_id: string;
  name: string;
  command: Json<readonly string[]>;
  takes_input: boolean;
  terminal_cols: number | null;
  terminal_rows: number | null;
  state: Defaulted<ProcessState['kind']>;
  pid: number | null;
  started_at: Generated<Date>;
  ended_at: Date | null;
  ended_by: EndReason | null;
  exit_code: number | null;
};

export type CommandRunsTable = {
  name_hash: Buffer;
  replica: string;
  started_at: Date;
  ended_at: Generated<Date | null>;
  exit_code: Generated<number | null>;
  output_bytes: Generated<number | null>;
  left_at: Generated<Date | null>;
  left_as: Generated<'abandoned' | 'unknown' | null>;
};

export type ContainerTables = {
  operations: OperationsTable;
  warm_pool: WarmPoolTable;
  containers: ContainersTable;
  container_activity: ContainerActivityTable;
  agents: AgentsTable;
  agent_enrolments: AgentEnrolmentsTable;
  carried_images: LayerImagesTable;
  snapshots: SnapshotsTable;
  processes: ProcessesTable;
  process_outputs: ProcessOutputsTable;
  command_runs: CommandRunsTable;
};
