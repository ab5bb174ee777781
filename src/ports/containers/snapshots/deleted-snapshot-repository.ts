import type { Snapshot } from '../../../domain/containers/snapshots/snapshot.ts';

/** Deleted snapshots that can be restored: neither given up nor being removed. Each read has the owner in the query. */
export interface DeletedSnapshotRepository {
  /** The last deleted first. */
  list(ownerId: string): Promise<readonly Snapshot[]>;
  /** Locked until the transaction ends. */
  findForUpdate(id: string, ownerId: string): Promise<Snapshot | null>;
  /** Undoes the deletion. Throws `SnapshotNameTaken`. */
  restore(id: string, name: string): Promise<Snapshot>;
}
