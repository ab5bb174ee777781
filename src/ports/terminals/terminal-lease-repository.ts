import type { TerminalLease } from '../../domain/terminals/terminal-reaping.ts';

/** A process's terminal in a container. */
export type NewTerminalLease = Omit<TerminalLease, 'silentSeconds' | 'isEnding'> & {
  readonly dbId: string;
};

/** The terminals that each process has in containers, so that a killed process's leftovers are found and ended. */
export interface TerminalLeaseRepository {
  /**
   * Call it before opening anything. Returns whether no other lease has the same session of the same engine container.
   */
  put(lease: NewTerminalLease): Promise<boolean>;
  /** Call it before ending the session. Absent is success. */
  markEnding(streamId: string): Promise<void>;
  /** Call it when it has ended in the container. Absent is success. */
  remove(streamIds: readonly string[]): Promise<void>;
  /** Marks this run as live. */
  renew(runId: string): Promise<void>;
  /** The ids of the runs that renewed within `silentSeconds`. */
  liveRuns(silentSeconds: number): Promise<readonly string[]>;
  inContainer(dbId: string): Promise<readonly TerminalLease[]>;
  /**
   * Ids of containers with an orphaned terminal: of a run silent for this long, of an earlier run of `replica`, or of
   * this run and not in `streamIds`.
   */
  unattended(
    by: { readonly replica: string; readonly runId: string; readonly streamIds: readonly string[] },
    silentSeconds: number,
  ): Promise<readonly string[]>;
}
