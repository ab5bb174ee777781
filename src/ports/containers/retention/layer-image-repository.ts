import type { LayerImage } from '../../../domain/containers/layer/carry-over.ts';

/** The private images that containers are made of. */
export interface LayerImageRepository {
  /** null when it is made of the catalogue's image. */
  find(dbId: string): Promise<LayerImage | null>;
  /** null: the catalogue's image again. */
  put(dbId: string, layerImage: LayerImage | null): Promise<void>;
  /** The user's deleted containers with one, by their rows' ids. */
  findDeleted(ownerId: string): Promise<ReadonlySet<string>>;
  /** Every private image in use by a row, deleted or not. */
  inUse(): Promise<ReadonlySet<string>>;
}
