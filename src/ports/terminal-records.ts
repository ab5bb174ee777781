/** A terminal session as administrators see it, also those of other processes. */
export type TerminalRecord = {
  readonly id: string;
  readonly userId: string;
  readonly containerId: string;
  readonly createdAt: Date;
  readonly lastPingAt: Date;
};

export type NewTerminalRecord = Pick<TerminalRecord, 'id' | 'userId' | 'containerId'>;

export interface TerminalRecords {
  insert(record: NewTerminalRecord): Promise<void>;
  /** Sets last_ping_at to now; puts back those that were swept away meanwhile. */
  ping(records: readonly NewTerminalRecord[]): Promise<void>;
  /** Absent is success. */
  remove(id: string): Promise<void>;
  /** Removes those of processes that died: without a ping for so long. */
  sweep(silentSeconds: number): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly TerminalRecord[]>;
}
