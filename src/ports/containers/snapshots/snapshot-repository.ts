import type { Snapshot, SnapshotState } from '../../../domain/containers/snapshots/snapshot.ts';
import type { SnapshotUse } from '../../../domain/containers/snapshots/snapshot-limits.ts';

export type NewSnapshot = Omit<Snapshot, 'state' | 'layerImage' | 'layerChanges' | 'createdAt' | 'deletedAt'>;

/** What is known of a snapshot while it is taken. */
export type SnapshotProgress = Partial<
  Pick<Snapshot, 'layerImage' | 'layerChanges' | 'layerMb' | 'volumeMb'>
>;

/** The owner has a snapshot of that name. */
export class SnapshotNameTaken extends Error {
  override name = 'SnapshotNameTaken';
}

/** Reads for a user have the owner in the query. Deleted snapshots, and those of forks, are in no list. */
export interface SnapshotRepository {
  /** Throws `SnapshotNameTaken`. */
  insert(snapshot: NewSnapshot): Promise<Snapshot>;
  /** Newest first. */
  list(ownerId: string): Promise<readonly Snapshot[]>;
  find(id: string, ownerId: string): Promise<Snapshot | null>;
  /** The same, locked until the transaction ends. */
  findForUpdate(id: string, ownerId: string): Promise<Snapshot | null>;
  /** By id alone, deleted ones and those of forks too: for work that was authorized earlier. */
  findAny(id: string): Promise<Snapshot | null>;
  record(id: string, progress: SnapshotProgress): Promise<void>;
  /** Ends the state `creating`; a failed one is given up. null when it is in another state. */
  settle(id: string, state: Exclude<SnapshotState, 'creating'>): Promise<Snapshot | null>;
  markDeleted(id: string): Promise<void>;
  markDeletedOf(ownerId: string): Promise<void>;
  /** The number and disk of all that the owner has. */
  use(ownerId: string): Promise<SnapshotUse>;
}
