import type { Container } from '../../domain/containers/container.ts';

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
}
