import type { Carried } from '../../domain/containers/carry-over.ts';

/** Which container is made of a private image of its own. */
export interface CarriedImages {
  /** null for one that is made of the catalogue's image. */
  find(dbId: string): Promise<Carried | null>;
  /** null: of the catalogue's image again. */
  put(dbId: string, carried: Carried | null): Promise<void>;
  /** Every private image that a row, deleted or not, would be made of. */
  inUse(): Promise<ReadonlySet<string>>;
}
