import type { ContainerState } from '../../domain/containers/container.ts';
import type { OperationKind } from '../../domain/containers/operation.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';

/** A terminal session as every process can see it. */
export type TerminalRecord = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly userId: string;
  /** Id of the container's row. */
  readonly dbId: string;
  readonly connectionId: string;
  readonly muxSession: string | null;
  readonly owner: boolean;
  readonly cols: number;
  readonly rows: number;
  /** The process that has the socket. */
  readonly replica: string;
  /** By the database's clock, in whole milliseconds: those of one key are compared by it, then by their id. */
  readonly createdAt: Date;
  readonly lastPingAt: Date;
};

export type NewTerminalRecord = Omit<TerminalRecord, 'createdAt' | 'lastPingAt'>;

/** With the names as they are now. */
export type ListedTerminal = TerminalRecord & { readonly username: string; readonly containerName: string };

/** Where a terminal is, as the database has it now. */
export type ContainerNow = {
  readonly dbId: string;
  readonly state: ContainerState;
  readonly runtimeId: string | null;
  /** What is being done with it. */
  readonly operation: OperationKind | null;
};

/**
 * Records of processes that died stay until they are swept; reads go past those without a ping for `SILENT_SECONDS`.
 */
export interface TerminalRecordRepository {
  /** Answers its `createdAt`. */
  insert(record: NewTerminalRecord): Promise<Date>;
  /** Sets last_ping_at to now; puts back those that were swept away meanwhile. */
  ping(records: readonly Omit<TerminalRecord, 'lastPingAt'>[]): Promise<void>;
  /** Writes the sizes alone; those that are gone stay so. */
  resize(sizes: readonly Pick<TerminalRecord, 'id' | 'cols' | 'rows'>[]): Promise<void>;
  /** Absent is success. */
  remove(ids: readonly string[]): Promise<void>;
  /** Removes those of an earlier run of a process. */
  removeAllOf(replica: string): Promise<void>;
  /** Removes those of processes that died. */
  sweep(): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly ListedTerminal[]>;
  find(id: string): Promise<TerminalRecord | null>;
  /** Notes that it is to be closed; false when it is gone or that was noted before. */
  requestClose(id: string): Promise<boolean>;
  /** Ids of a process's that are to be closed. */
  closeRequests(replica: string): Promise<readonly string[]>;
  /** Of each key the newest. */
  newest(keys: readonly TerminalKey[]): Promise<readonly TerminalRecord[]>;
  /** How containers are now; deleted ones as well. */
  containerStatuses(dbIds: readonly string[]): Promise<readonly ContainerNow[]>;
}

/** Peers are pinged every 30 s. */
export const SILENT_SECONDS = 75;
