import type { SnapshotsToGiveUp } from '../../../domain/containers/snapshots/snapshot-limits.ts';

/** A snapshot whose volume is to be removed now. */
export type ClaimedSnapshot = { readonly id: string; readonly ownerId: string; readonly volume: string };

/** The removal of deleted snapshots, by the database's clock, and which of their images are still in use. */
export interface SnapshotRetentionRepository {
  /**
   * Condemns deleted snapshots with expired retention, spares those whose retention was extended, and gives up those of
   * forks that are made.
   */
  review(retentionDays: number): Promise<void>;
  /**
   * Takes some of those due, none that an operation uses; exactly one process gets each. After `CLAIM_MINUTES` an
   * unremoved one can be taken again.
   */
  claim(retentionDays: number): Promise<readonly ClaimedSnapshot[]>;
  /** Gives up the owner's deleted ones, the first deleted first, until there is that much room. Returns their ids. */
  giveUp(ownerId: string, room: SnapshotsToGiveUp): Promise<readonly string[]>;
  /** False when already recorded. */
  markRemoved(id: string): Promise<boolean>;
  /** The private images of the snapshots that are not removed yet. */
  images(): Promise<ReadonlySet<string>>;
}
