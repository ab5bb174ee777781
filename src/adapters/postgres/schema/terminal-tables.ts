/** Terminals, their shares and recordings. */
import type { ColumnType, Generated } from 'kysely';
import type { CollaborationMode } from '../../../domain/terminals/collaboration.ts';
import type { RecordingState } from '../../../domain/terminals/recording.ts';
import type { TerminalClient } from '../../../domain/terminals/terminal-client.ts';
import type { Defaulted } from './column-types.ts';

export type TerminalRecordsTable = {
  id: string;
  user_id: string;
  container_id: string;
  terminal_key: string;
  connection_id: string;
  mux_session: string | null;
  owner: boolean;
  cols: number;
  rows: number;
  client: TerminalClient | null;
  ip_address: string | null;
  replica: string;
  closing: Defaulted<boolean>;
  created_at: Defaulted<Date>;
  last_ping_at: Defaulted<Date>;
};

export type RecordingsTable = {
  id: string;
  user_id: string;
  container_id: string;
  container_name: string;
  connection_id: string;
  cols: number;
  rows: number;
  state: Defaulted<RecordingState>;
  /** The driver returns 64-bit numbers as text. */
  size_bytes: ColumnType<string, number | undefined, number>;
  duration_ms: ColumnType<string, number | undefined, number>;
  replica: string;
  created_at: Generated<Date>;
  ended_at: Date | null;
  seen_at: Defaulted<Date>;
};

export type TerminalLeasesTable = {
  stream: string;
  container_id: string;
  runtime_id: string;
  mux_session: string;
  replica: string;
  run: string;
  is_ending: Defaulted<boolean>;
};

type ReplicaRunsTable = { run: string; seen_at: Date };

export type CollaborationsTable = {
  id: string;
  db_id: string;
  owner_id: string;
  mode: CollaborationMode;
  code_hash: Buffer;
  created_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
  settled_at: Date | null;
  owner_cols: number | null;
  owner_rows: number | null;
};

type CollaborationParticipantsTable = {
  collaboration_id: string;
  user_id: string;
  joined_at: Generated<Date>;
  /** Number of the previous event. */
  joined_after: Generated<string>;
  left_at: Date | null;
  /** When the owner removed them. */
  removed_at: Generated<Date | null>;
};

export type TerminalTables = {
  terminal_records: TerminalRecordsTable;
  recordings: RecordingsTable;
  terminal_holds: TerminalLeasesTable;
  replica_runs: ReplicaRunsTable;
  collaborations: CollaborationsTable;
  collaboration_participants: CollaborationParticipantsTable;
};
