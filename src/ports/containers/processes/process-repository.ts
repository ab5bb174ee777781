import type { ContainerProcess, ProcessState } from '../../../domain/containers/processes/process.ts';
import type { PtySize } from '../../../domain/containers/processes/process-request.ts';

export type NewProcess = Omit<ContainerProcess, 'state' | 'startedAt'>;

/** How long an ended process is kept, and how many of a container. */
export const KEPT_HOURS = 24;
export const MAX_ENDED = 100;

/** A container in which a process has not ended. */
export type BusyContainer = { readonly dbId: string; readonly ownerId: string };

export interface ProcessRepository {
  /** As `starting`. */
  insert(process: NewProcess): Promise<ContainerProcess>;
  find(id: string, dbId: string): Promise<ContainerProcess | null>;
  /** Those that have not ended, and the last 100 that ended within 24 hours; newest first. */
  list(dbId: string): Promise<readonly ContainerProcess[]>;
  /** How many have not ended; exact while the user's row is locked. */
  count(dbId: string, userId: string): Promise<{ readonly ofContainer: number; readonly ofUser: number }>;
  /** Whether one that has not ended has this name. */
  hasNamed(dbId: string, name: string): Promise<boolean>;
  /** Changes the state; false when it was no longer `from`. */
  advance(id: string, from: ProcessState['kind'], to: ProcessState): Promise<boolean>;
  /** Records the size of a terminal. */
  resize(id: string, size: PtySize): Promise<void>;
  /** All containers in which one has not ended. */
  busyContainers(): Promise<readonly BusyContainer[]>;
  /** Removes those that `list` does not show any more. */
  forget(): Promise<void>;
}
