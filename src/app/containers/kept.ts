import type { Caller } from '../../domain/caller.ts';
import type { Container } from '../../domain/container.ts';
import { keptUntil } from '../../domain/retention.ts';
import type { ContainerDeps } from './deps.ts';

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
