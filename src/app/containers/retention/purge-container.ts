import type { Container } from '../../../domain/containers/container.ts';
import { parseContainerRef } from '../../../domain/containers/container-ref.ts';
import { containerEvent } from '../../../domain/events.ts';
import { type Caller, type RequestOrigin, reaches } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { ContainerDeps } from '../container-deps.ts';

/**
 * Gives up a deleted container for good: it cannot be restored, and the next pass removes its volume. `name` confirms
 * the choice. Takes the row's id only.
 */
export const purgeContainer =
  ({ storage }: Pick<ContainerDeps, 'storage'>) =>
  async (id: string, name: string, caller: Caller, origin: RequestOrigin): AsyncResult<Container> => {
    const ref = parseContainerRef(id);
    if (ref?.kind !== 'db_id' || !reaches(caller, ref.dbId)) return refuse({ code: 'container_not_found' });
    const { user } = caller;
    return await storage.inTransaction(async (tx) => {
      const deleted = await tx.deletedContainers.findForUpdate(ref.dbId, user.id);
      if (deleted === null) return refuse({ code: 'container_not_found' });
      if (deleted.name !== name) {
        return refuse({ code: 'validation_failed', fields: { name: 'must be the name of the container' } });
      }
      await tx.retention.purge(deleted.dbId);
      await tx.audit.append({
        ...origin,
        userId: user.id,
        action: 'container_purged',
        details: deleted.dbId,
      });
      await tx.events.append(containerEvent('container_purged', deleted));
      return ok(deleted);
    });
  };
