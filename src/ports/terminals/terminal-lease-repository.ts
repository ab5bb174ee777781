import type { TerminalLease } from '../../domain/terminals/terminal-reaping.ts';

/** A terminal in a container that a process has opened. */
export type NewTerminalLease = Omit<TerminalLease, 'silentSeconds' | 'isEnding'> & {
  /** Id of the container's row. */
  readonly dbId: string;
};

/** Which terminals in containers belong to whom, so that what a killed process leaves is found and ended. */
export interface TerminalLeaseRepository {
  /** Before anything is opened. Whether no other lease is of the same session in the same container of the engine. */
  put(lease: NewTerminalLease): Promise<boolean>;
  /** It is about to be ended. Absent is success. */
  markEnding(streamId: string): Promise<void>;
  /** When it has ended in the container. Absent is success. */
  remove(streamIds: readonly string[]): Promise<void>;
  /** This run lives. */
  renew(incarnation: string): Promise<void>;
  inContainer(dbId: string): Promise<readonly TerminalLease[]>;
  /**
   * Ids of containers with a terminal that nobody seems to have: of a run that said nothing for so long, of an earlier
   * run of `replica`, or of `run` itself and not in `streams`.
   */
  unattended(
    by: { readonly replica: string; readonly incarnation: string; readonly streamIds: readonly string[] },
    silentSeconds: number,
  ): Promise<readonly string[]>;
}
