import type { DeletedSnapshotRepository } from '../../../../ports/containers/snapshots/deleted-snapshot-repository.ts';
import { SnapshotNameTaken } from '../../../../ports/containers/snapshots/snapshot-repository.ts';
import type { MemoryState } from '../../memory-state.ts';
import { change, isListed, toSnapshot } from './snapshot-repository.ts';

export function memoryDeletedSnapshots(state: MemoryState): DeletedSnapshotRepository {
  const restorable = (ownerId: string) =>
    state.snapshots
      .filter((one) => one.ownerId === ownerId && one.deletedAt !== null && one.forkIds === null)
      .filter(
        ({ state: now, purgedAt, claimedAt, removedAt }) =>
          now === 'ready' && !(purgedAt ?? claimedAt ?? removedAt),
      )
      .toSorted((a, b) => (b.deletedAt?.getTime() ?? 0) - (a.deletedAt?.getTime() ?? 0));
  return {
    list: async (ownerId) => restorable(ownerId).map(toSnapshot),
    async findForUpdate(id, ownerId) {
      const found = restorable(ownerId).find((one) => one.id === id);
      return found === undefined ? null : toSnapshot(found);
    },
    async restore(id, name) {
      const found = state.snapshots.find((one) => one.id === id);
      if (found === undefined) throw new Error(`no snapshot ${id}`);
      const isNamed = (one: (typeof state.snapshots)[number]) => one.name === name && one.state !== 'failed';
      if (state.snapshots.some((one) => isListed(one, found.ownerId) && isNamed(one)))
        throw new SnapshotNameTaken('name in use');
      change(state, id, { deletedAt: null, condemnedAt: null, name });
      return toSnapshot({ ...found, deletedAt: null, name });
    },
  };
}
