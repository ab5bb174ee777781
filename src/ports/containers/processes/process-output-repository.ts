import type { StoredOutput } from '../../../domain/containers/processes/stored-output.ts';

/** An ended process whose output is only in its running container. */
export type Unstored = { readonly processId: string; readonly dbId: string; readonly ownerId: string };

/** Copies of the output of processes. They are removed with the records of the processes. */
export interface ProcessOutputRepository {
  /**
   * Replaces an earlier copy that was not whole. Above 64 MiB for the owner, the oldest copies lose their data, but not
   * their offsets.
   */
  store(processId: string, ownerId: string, output: StoredOutput): Promise<void>;
  find(processId: string): Promise<StoredOutput | null>;
  /** At most 100; those that ended first come first. Without a seen end, any copy counts as stored. */
  unstored(): Promise<readonly Unstored[]>;
}
