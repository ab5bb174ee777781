import type { Container } from '../../../domain/containers/container.ts';

/** How many deleted containers still have their volume, and the disk that these use, as last measured. */
export type KeptSum = { readonly count: number; readonly usedMb: number };

/** Deleted containers, whose volumes are kept for a time. */
export interface DeletedContainerRepository {
  /** An unpurged container whose volume is not being removed, and will not be until the transaction ends. */
  findForUpdate(dbId: string, ownerId: string): Promise<Container | null>;
  /** Those that can be restored, last deleted first. */
  listRestorable(ownerId: string): Promise<readonly Container[]>;
  /** Those that have run and still have their volume. */
  countKept(ownerId: string): Promise<number>;
  /** Purged ephemeral ones that still have their volume. */
  countGivenUpEphemeral(ownerId: string): Promise<number>;
  /** Those of all users that still have their volume. */
  sumKept(): Promise<KeptSum>;
}
