import type { Container } from '../../domain/containers/container.ts';
import { keptUntil } from '../../domain/containers/volume-retention.ts';
import { type Caller, reaches } from '../../domain/identity/caller.ts';
import type { ContainerDeps } from './container-deps.ts';

/** A restorable deleted container, and the earliest end of its retention. */
export type DeletedContainer = { readonly container: Container; readonly keptUntil: Date };

/** The caller's restorable containers, last deleted first. */
export const listKept =
  ({ storage: { repositories } }: ContainerDeps) =>
  async (caller: Caller): Promise<readonly DeletedContainer[]> => {
    const { user } = caller;
    const [deleted, { retentionDays }] = await Promise.all([
      repositories.deletedContainers.listRestorable(user.id),
      repositories.settings.read(),
    ]);
    const isGuests = user.guestUntil !== null;
    return deleted.flatMap((container) =>
      container.deletedAt === null || !reaches(caller, container.dbId)
        ? []
        : [{ container, keptUntil: keptUntil({ deletedAt: container.deletedAt, isGuests }, retentionDays) }],
    );
  };
