import type { Container } from '../../domain/containers/container.ts';
import { keptUntil } from '../../domain/containers/volume-retention.ts';
import type { Caller } from '../../domain/identity/caller.ts';
import type { ContainerDeps } from './container-deps.ts';

/** A deleted container that can be restored, until `keptUntil` at least. */
export type Kept = { readonly container: Container; readonly keptUntil: Date };

/** What the caller deleted and can still restore: newest deletion first. */
export const listKept =
  ({ storage: { repositories } }: ContainerDeps) =>
  async ({ user }: Caller): Promise<readonly Kept[]> => {
    const [deleted, { retentionDays }] = await Promise.all([
      repositories.containers.listDeleted(user.id),
      repositories.settings.read(),
    ]);
    const isGuests = user.guestUntil !== null;
    return deleted.flatMap((container) =>
      container.deletedAt === null
        ? []
        : [{ container, keptUntil: keptUntil({ deletedAt: container.deletedAt, isGuests }, retentionDays) }],
    );
  };
