import type { SnapshotImage } from '../../domain/containers/carry-over.ts';

/** Which container is made of a private image of its own. */
export interface SnapshotImageRepository {
  /** null for one that is made of the catalogue's image. */
  find(dbId: string): Promise<SnapshotImage | null>;
  /** null: of the catalogue's image again. */
  put(dbId: string, snapshotImage: SnapshotImage | null): Promise<void>;
  /** Every private image that a row, deleted or not, would be made of. */
  inUse(): Promise<ReadonlySet<string>>;
}
