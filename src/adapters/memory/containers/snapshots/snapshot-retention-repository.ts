import { snapshotMb } from '../../../../domain/containers/snapshots/snapshot.ts';
import { CLAIM_MINUTES, volumeDue } from '../../../../domain/containers/volume-retention.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { SnapshotRetentionRepository } from '../../../../ports/containers/snapshots/snapshot-retention-repository.ts';
import type { MemoryState, StoredSnapshot } from '../../memory-state.ts';
import { change } from './snapshot-repository.ts';

export function memorySnapshotRetention(state: MemoryState, clock: Clock): SnapshotRetentionRepository {
  const isInUse = (id: string): boolean =>
    state.operations.some(({ snapshot, outcome }) => snapshot?.id === id && outcome === null);
  const dueOf = (one: StoredSnapshot, retentionDays: number): ReturnType<typeof volumeDue> => {
    if (one.purgedAt !== null) return 'remove';
    if (one.deletedAt === null) return 'nothing';
    const isGuests = state.users.some(({ id, guestUntil }) => id === one.ownerId && guestUntil !== null);
    const { deletedAt, condemnedAt } = one;
    return volumeDue({ deletedAt, condemnedAt, isGuests }, retentionDays, clock.now());
  };
  const present = () => state.snapshots.filter(({ removedAt }) => removedAt === null);
  const isFree = ({ claimedAt }: StoredSnapshot): boolean =>
    claimedAt === null || clock.now().getTime() - claimedAt.getTime() >= CLAIM_MINUTES * 60_000;
  return {
    async review(retentionDays) {
      for (const one of present()) {
        const due = dueOf(one, retentionDays);
        if (due === 'condemn') change(state, one.id, { condemnedAt: clock.now() });
        if (due === 'spare' && one.claimedAt === null) change(state, one.id, { condemnedAt: null });
        const isMade = one.forkIds !== null && one.state !== 'creating' && !isInUse(one.id);
        if (isMade && one.purgedAt === null) change(state, one.id, { purgedAt: clock.now() });
      }
    },
    async claim(retentionDays) {
      const taken = present().filter(
        (one) => dueOf(one, retentionDays) === 'remove' && isFree(one) && !isInUse(one.id),
      );
      for (const { id } of taken) change(state, id, { claimedAt: clock.now() });
      return taken.map(({ id, ownerId, volume }) => ({ id, ownerId, volume }));
    },
    async giveUp(ownerId, { mb, count }) {
      const deleted = present()
        .filter((one) => one.ownerId === ownerId && one.deletedAt !== null && one.purgedAt === null)
        .toSorted((a, b) => (a.deletedAt?.getTime() ?? 0) - (b.deletedAt?.getTime() ?? 0));
      const ids: string[] = [];
      let freedMb = 0;
      for (const one of deleted) {
        if (freedMb >= mb && ids.length >= count) break;
        freedMb += snapshotMb(one);
        ids.push(one.id);
        change(state, one.id, { purgedAt: clock.now() });
      }
      return ids;
    },
    async markRemoved(id) {
      const found = present().find((one) => one.id === id);
      if (found === undefined || found.claimedAt === null) return false;
      change(state, id, { removedAt: clock.now() });
      return true;
    },
    images: async () => new Set(present().flatMap(({ layerImage }) => layerImage ?? [])),
  };
}
