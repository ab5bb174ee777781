import type { Container } from '../../../domain/containers/container.ts';
import { CONDEMNED_HOURS, keptUntil } from '../../../domain/containers/volume-retention.ts';
import { type Caller, reaches } from '../../../domain/identity/caller.ts';
import type { KeptSum } from '../../../ports/containers/retention/deleted-container-repository.ts';
import type { ContainerDeps } from '../container-deps.ts';

/** A restorable deleted container, and the earliest end of its retention. */
export type DeletedContainer = {
  readonly container: Container;
  readonly keptUntil: Date;
  /** Whether what was installed outside the volume is kept, as the last change of limits saved it. */
  readonly keepsInstalled: boolean;
};

/** `keptDays`: the least after a delete; null for guests, whose containers are kept for less than an hour. */
export type Kept = { readonly containers: readonly DeletedContainer[]; readonly keptDays: number | null };

/** The caller's restorable containers, last deleted first. */
export const listKept =
  ({ storage: { repositories } }: Pick<ContainerDeps, 'storage'>) =>
  async (caller: Caller): Promise<Kept> => {
    const { user } = caller;
    const [deleted, withImage, { retentionDays }] = await Promise.all([
      repositories.deletedContainers.listRestorable(user.id),
      repositories.layerImages.findDeleted(user.id),
      repositories.settings.read(),
    ]);
    const isGuests = user.guestUntil !== null;
    const containers = deleted.flatMap((container) =>
      container.deletedAt === null || !reaches(caller, container.dbId)
        ? []
        : [
            {
              container,
              keptUntil: keptUntil({ deletedAt: container.deletedAt, isGuests }, retentionDays),
              keepsInstalled: withImage.has(container.dbId),
            },
          ],
    );
    return { containers, keptDays: isGuests ? null : retentionDays + CONDEMNED_HOURS / 24 };
  };

/** For administrators: how many deleted containers of all users still have volumes, and the disk that these use. */
export const sumKept =
  ({ storage: { repositories } }: Pick<ContainerDeps, 'storage'>) =>
  async (): Promise<KeptSum & { readonly retentionDays: number }> => {
    const [sum, { retentionDays }] = await Promise.all([
      repositories.deletedContainers.sumKept(),
      repositories.settings.read(),
    ]);
    return { ...sum, retentionDays };
  };
