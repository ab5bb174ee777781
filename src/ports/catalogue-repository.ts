import type { Image, Role } from '../domain/catalogue.ts';
import type { Tier } from '../domain/resources.ts';

export interface CatalogueRepository {
  /** Smallest first. */
  tiers(): Promise<readonly Tier[]>;
  tier(name: string): Promise<Tier | null>;
  images(): Promise<readonly Image[]>;
  roles(): Promise<readonly Role[]>;
}
