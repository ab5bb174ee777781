import type { Container } from '../../../domain/containers/container.ts';
import type { Snapshot } from '../../../domain/containers/snapshots/snapshot.ts';
import { snapshotEvent } from '../../../domain/events.ts';
import { type Caller, type RequestOrigin, reaches } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { forkContainer } from './fork-container.ts';
import { restoreSnapshot } from './restore-snapshot.ts';
import { takeSnapshot } from './take-snapshot.ts';

export type Snapshots = ReturnType<typeof snapshots>;

const UNKNOWN = refuse({ code: 'snapshot_not_found' } as const);

/** Snapshots of the caller's containers, as far as the credential reaches these; all others are unknown. */
export const snapshots = (deps: ContainerDeps) => ({
  take: takeSnapshot(deps),
  fork: forkContainer(deps),

  /** The containers that a fork made, by the id of its snapshot. */
  async forksOf(snapshotId: string, caller: Caller): AsyncResult<readonly Container[]> {
    const { snapshots: all, containers } = deps.storage.repositories;
    const taken = await all.findAny(snapshotId);
    if (taken?.ownerId !== caller.user.id || taken.forkIds === null) return UNKNOWN;
    const forks = await Promise.all(taken.forkIds.map((dbId) => containers.findAny(dbId)));
    return ok(forks.filter((fork) => fork !== null));
  },

  /** Newest first. */
  async list(caller: Caller): Promise<readonly Snapshot[]> {
    const all = await deps.storage.repositories.snapshots.list(caller.user.id);
    return all.filter(({ dbId }) => reaches(caller, dbId));
  },

  /** The caller's deleted ones that can be restored, the last deleted first. */
  async listDeleted(caller: Caller): Promise<readonly Snapshot[]> {
    const all = await deps.storage.repositories.deletedSnapshots.list(caller.user.id);
    return all.filter(({ dbId }) => reaches(caller, dbId));
  },

  async find(id: string, caller: Caller): AsyncResult<Snapshot> {
    if (!isUuid(id.toLowerCase())) return UNKNOWN;
    const found = await deps.storage.repositories.snapshots.find(id.toLowerCase(), caller.user.id);
    return found !== null && reaches(caller, found.dbId) ? ok(found) : UNKNOWN;
  },

  restore: restoreSnapshot(deps),

  /** Deletes a snapshot. Its data stays for the retention; containers made from it stay too. */
  remove: (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<Snapshot> =>
    orRollBack(deps.storage.inTransaction, async (tx) => {
      const userId = caller.user.id;
      const found = isUuid(id.toLowerCase())
        ? await tx.snapshots.findForUpdate(id.toLowerCase(), userId)
        : null;
      if (found === null || !reaches(caller, found.dbId)) return UNKNOWN;
      if (found.state === 'creating') return refuse({ code: 'snapshot_not_ready' });
      await tx.snapshots.markDeleted(found.id);
      await tx.audit.append({ userId, action: 'snapshot_deleted', ...origin, details: found.id });
      const container = await tx.containers.findAny(found.dbId);
      await tx.events.append(snapshotEvent('snapshot_deleted', container, found));
      return ok(found);
    }),
});
