import type { ContainerState } from '../../domain/containers/container.ts';
import type { OperationKind } from '../../domain/containers/operation.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { TerminalClient } from '../../domain/terminals/terminal-client.ts';

/** A terminal as all processes see it. */
export type TerminalRecord = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly userId: string;
  readonly dbId: string;
  readonly connectionId: string;
  readonly muxSession: string | null;
  readonly owner: boolean;
  readonly cols: number;
  readonly rows: number;
  /** What it is shown in, and from which address it was opened; null where an earlier version recorded it. */
  readonly client: TerminalClient | null;
  readonly ipAddress: string | null;
  /** The process with the socket. */
  readonly replica: string;
  /** By the database's clock, in whole milliseconds: records of one key are ordered by it, then by id. */
  readonly createdAt: Date;
  readonly lastPingAt: Date;
};

export type NewTerminalRecord = Omit<TerminalRecord, 'createdAt' | 'lastPingAt'>;

/** With the present names. */
export type ListedTerminal = TerminalRecord & { readonly username: string; readonly containerName: string };

/** The container's present state, for its terminals. */
export type ContainerNow = {
  readonly dbId: string;
  readonly state: ContainerState;
  readonly runtimeId: string | null;
  /** The operation in progress. */
  readonly operation: OperationKind | null;
};

/** Records of dead processes stay until swept; reads skip those without a ping for `SILENT_SECONDS`. */
export interface TerminalRecordRepository {
  /** Returns its `createdAt`. */
  insert(record: NewTerminalRecord): Promise<Date>;
  /** Sets last_ping_at to now; restores swept ones. */
  ping(records: readonly Omit<TerminalRecord, 'lastPingAt'>[]): Promise<void>;
  /** Writes the sizes of existing ones. */
  resize(sizes: readonly Pick<TerminalRecord, 'id' | 'cols' | 'rows'>[]): Promise<void>;
  /** Absent is success. */
  remove(ids: readonly string[]): Promise<void>;
  /** Removes those of an earlier run of a process. */
  removeAllOf(replica: string): Promise<void>;
  /** Removes those of dead processes. */
  sweep(): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly ListedTerminal[]>;
  find(id: string): Promise<TerminalRecord | null>;
  /** The newest of each key. */
  newest(keys: readonly TerminalKey[]): Promise<readonly TerminalRecord[]>;
  /** The containers' present states, deleted ones included. An agent away for a short time counts as running. */
  containerStatuses(dbIds: readonly string[]): Promise<readonly ContainerNow[]>;
}

/** Peers are pinged every 30 s. */
export const SILENT_SECONDS = 75;
