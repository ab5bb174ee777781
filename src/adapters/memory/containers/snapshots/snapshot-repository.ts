import { type Snapshot, snapshotMb } from '../../../../domain/containers/snapshots/snapshot.ts';
import type { Clock } from '../../../../ports/clock.ts';
import {
  SnapshotNameTaken,
  type SnapshotRepository,
} from '../../../../ports/containers/snapshots/snapshot-repository.ts';
import type { MemoryState, StoredSnapshot } from '../../memory-state.ts';

export const change = (state: MemoryState, id: string, to: Partial<StoredSnapshot>): void => {
  state.snapshots = state.snapshots.map((one) => (one.id === id ? { ...one, ...to } : one));
};

export const toSnapshot = (stored: StoredSnapshot): Snapshot => {
  const { condemnedAt: _c, purgedAt: _p, claimedAt: _l, removedAt: _r, ...snapshot } = stored;
  return snapshot;
};

export const isListed = (one: StoredSnapshot, ownerId: string): boolean =>
  one.ownerId === ownerId && one.deletedAt === null && one.forkIds === null;

export function memorySnapshotRecords(state: MemoryState, clock: Clock): SnapshotRepository {
  const listed = (ownerId: string) => state.snapshots.filter((one) => isListed(one, ownerId));
  const find = async (id: string, ownerId: string): Promise<Snapshot | null> => {
    const found = listed(ownerId).find((one) => one.id === id);
    return found === undefined ? null : toSnapshot(found);
  };
  const findAny = (id: string) => state.snapshots.find((one) => one.id === id);
  return {
    async insert(snapshot) {
      const isNamed = (one: StoredSnapshot) => one.name === snapshot.name && one.state !== 'failed';
      if (snapshot.forkIds === null && listed(snapshot.ownerId).some(isNamed))
        throw new SnapshotNameTaken('name in use');
      const fresh = { state: 'creating', layerImage: null, layerChanges: null, deletedAt: null } as const;
      const phases = { condemnedAt: null, purgedAt: null, claimedAt: null, removedAt: null };
      const made = { ...snapshot, ...fresh, createdAt: clock.now(), ...phases };
      state.snapshots.push(made);
      return toSnapshot(made);
    },
    list: async (ownerId) => listed(ownerId).toReversed().map(toSnapshot),
    find,
    findForUpdate: find,
    async findAny(id) {
      const found = findAny(id);
      return found === undefined ? null : toSnapshot(found);
    },
    record: async (id, progress) => change(state, id, progress),
    async settle(id, to) {
      if (findAny(id)?.state !== 'creating') return null;
      change(state, id, { state: to, ...(to === 'failed' ? { purgedAt: clock.now() } : {}) });
      const settled = findAny(id);
      return settled === undefined ? null : toSnapshot(settled);
    },
    async markDeleted(id) {
      if (findAny(id)?.deletedAt === null) change(state, id, { deletedAt: clock.now() });
    },
    async markDeletedOf(ownerId) {
      for (const { id } of listed(ownerId)) change(state, id, { deletedAt: clock.now() });
    },
    async use(ownerId) {
      const all = state.snapshots.filter(
        (one) => one.ownerId === ownerId && one.purgedAt === null && one.removedAt === null,
      );
      const sum = (of: readonly StoredSnapshot[]) => of.reduce((mb, one) => mb + snapshotMb(one), 0);
      const deleted = all.filter(({ deletedAt }) => deletedAt !== null);
      return {
        count: all.filter((one) => isListed(one, ownerId)).length,
        liveMb: sum(all.filter(({ deletedAt }) => deletedAt === null)),
        deletedCount: deleted.length,
        deletedMb: sum(deleted),
      };
    },
  };
}
