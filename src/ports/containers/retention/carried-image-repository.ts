import type { SnapshotImage } from '../../../domain/containers/layer/carry-over.ts';

/** The private images that containers are made of. */
export interface SnapshotImageRepository {
  /** null when it is made of the catalogue's image. */
  find(dbId: string): Promise<SnapshotImage | null>;
  /** null: the catalogue's image again. */
  put(dbId: string, snapshotImage: SnapshotImage | null): Promise<void>;
  /** The user's deleted containers with one, by their rows' ids. */
  findDeleted(ownerId: string): Promise<ReadonlySet<string>>;
  /** Every private image in use by a row, deleted or not. */
  inUse(): Promise<ReadonlySet<string>>;
}
