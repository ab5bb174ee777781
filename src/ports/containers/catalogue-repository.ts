import type { Image, Role } from '../../domain/containers/catalogue.ts';
import type { Tier } from '../../domain/containers/resources.ts';

export interface CatalogueRepository {
  /** Smallest first. */
  tiers(): Promise<readonly Tier[]>;
  tier(name: string): Promise<Tier | null>;
  /** The default first. */
  images(): Promise<readonly Image[]>;
  /** The default first. */
  roles(): Promise<readonly Role[]>;
  role(key: string): Promise<Role | null>;
  /** Whether both exist; if so they stay until the transaction ends. */
  keep(imageKey: string, roleKey: string): Promise<boolean>;
  readonly editing: CatalogueEditing;
}

export type CatalogueEditing = {
  readonly tier: CatalogueEdits<Tier>;
  readonly image: CatalogueEdits<Image>;
  readonly role: CatalogueEdits<Role>;
};

/** Edits one kind of entry, inside a transaction. Keys never change. */
export interface CatalogueEdits<T> {
  /** False when the key is taken. */
  insert(entry: T): Promise<boolean>;
  /** Locks the entry until the transaction ends; null when there is none. */
  findForUpdate(key: string): Promise<T | null>;
  /** Replaces a locked entry. */
  replace(entry: T): Promise<void>;
  /** Whether a user has the tier, or a container that is not deleted the image or the role. */
  isUsed(key: string): Promise<boolean>;
  remove(key: string): Promise<void>;
}
