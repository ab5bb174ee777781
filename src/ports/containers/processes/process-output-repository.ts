import type { StoredOutput } from '../../../domain/containers/processes/stored-output.ts';

/** An ended process whose output is only in its running container. */
export type Unstored = { readonly processId: string; readonly dbId: string; readonly ownerId: string };

/** How many of an owner are listed at once. */
export const MAX_UNSTORED = 50;

/** Copies of the output of processes. They are removed with the records of the processes. */
export interface ProcessOutputRepository {
  /**
   * Replaces an earlier copy that was not whole. Above 64 MiB for the owner, the oldest copies lose their data, but not
   * their offsets.
   */
  store(processId: string, ownerId: string, output: StoredOutput): Promise<void>;
  find(processId: string): Promise<StoredOutput | null>;
  /**
   * At most 50 of each owner, in random order: those that always fail do not keep others from their turn. Without a
   * seen end, any copy counts as stored.
   */
  unstored(): Promise<readonly Unstored[]>;
}
