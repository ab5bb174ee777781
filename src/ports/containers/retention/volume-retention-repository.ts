/** A deleted container's volume, to be removed now. */
export type ClaimedVolume = { readonly dbId: string; readonly ownerId: string; readonly volume: string };

/** The removal of deleted containers' volumes, by the database's clock. */
export interface VolumeRetentionRepository {
  /** Condemns volumes with expired retention, and spares condemned ones whose retention was extended. */
  review(retentionDays: number): Promise<void>;
  /**
   * Takes some of those due; exactly one process gets each. They can no longer be restored. After `CLAIM_MINUTES` an
   * unremoved one can be taken again.
   */
  claim(retentionDays: number): Promise<readonly ClaimedVolume[]>;
  /**
   * Gives up a deleted container: due at once and not restorable. Call it after `DeletedContainerRepository.findForUpdate`
   * in one transaction.
   */
  purge(dbId: string): Promise<void>;
  /** The retention of a deleted container begins again, unless it has begun within the last hour, or was given up. */
  keepAnew(dbId: string): Promise<void>;
  /** False when already recorded. */
  markRemoved(dbId: string): Promise<boolean>;
}
