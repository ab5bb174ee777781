/** The volume of a deleted container that is to be removed now. */
export type ClaimedVolume = { readonly dbId: string; readonly ownerId: string; readonly volume: string };

/** How far the removal of deleted containers' volumes is. The storage's own clock decides. */
export interface VolumeRetentionRepository {
  /** Condemns those whose retention is over, and spares condemned ones whose retention was made longer. */
  review(retentionDays: number): Promise<void>;
  /**
   * Takes those that are due, some at a time: of several processes exactly one gets each. From then on it can not be
   * restored. One that is not removed within `CLAIM_MINUTES` can be taken again.
   */
  claim(retentionDays: number): Promise<readonly ClaimedVolume[]>;
  /** Gives a deleted container up: it is due at once, and cannot be restored. Call it after `findDeleted` in one transaction. */
  purge(dbId: string): Promise<void>;
  /** False when that was written down before. */
  markRemoved(dbId: string): Promise<boolean>;
}
