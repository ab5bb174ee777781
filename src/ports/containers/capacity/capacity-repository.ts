import type { NodeSums, StoredSums } from '../../../domain/containers/capacity/capacity.ts';
import type { PersonUse } from '../../../domain/containers/capacity/person-use.ts';

export type RunningOf = { readonly runtimeId: string; readonly ownerId: string };

/** Sums for administrators, each in one statement. Agents are no containers here. */
export interface CapacityRepository {
  nodes(): Promise<readonly NodeSums[]>;
  stored(): Promise<StoredSums>;
  /** Everybody who is not deleted, by name. */
  people(): Promise<readonly PersonUse[]>;
  /** The running containers and their owners. */
  running(): Promise<readonly RunningOf[]>;
}
