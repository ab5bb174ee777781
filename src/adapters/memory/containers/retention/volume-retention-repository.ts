import { CLAIM_MINUTES, volumeDue } from '../../../../domain/containers/volume-retention.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { VolumeRetentionRepository } from '../../../../ports/containers/retention/volume-retention-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

export function memoryVolumeRetention(state: MemoryState, clock: Clock): VolumeRetentionRepository {
  const due = (retentionDays: number, what: ReturnType<typeof volumeDue>) =>
    state.containers.filter(({ dbId, ownerId, state: now, deletedAt }) => {
      const { condemnedAt = null, claimedAt, removedAt, purgedAt } = state.volumes.get(dbId) ?? {};
      if (now !== 'deleted' || deletedAt === null || removedAt !== undefined) return false;
      if (claimedAt !== undefined && what !== 'remove') return false;
      const isGuests = state.users.some(({ id, guestUntil }) => id === ownerId && guestUntil !== null);
      const deleted = { deletedAt, condemnedAt, isPurged: purgedAt !== undefined, isGuests };
      return volumeDue(deleted, retentionDays, clock.now()) === what;
    });
  const isFree = (dbId: string): boolean => {
    const claimedAt = state.volumes.get(dbId)?.claimedAt;
    return claimedAt === undefined || clock.now().getTime() - claimedAt.getTime() >= CLAIM_MINUTES * 60_000;
  };
  return {
    async review(retentionDays) {
      for (const { dbId } of due(retentionDays, 'condemn')) {
        state.volumes.set(dbId, { condemnedAt: clock.now() });
      }
      for (const { dbId } of due(retentionDays, 'spare')) state.volumes.delete(dbId);
    },
    async claim(retentionDays) {
      const taken = due(retentionDays, 'remove').filter(({ dbId }) => isFree(dbId));
      for (const { dbId } of taken) {
        state.volumes.set(dbId, { ...state.volumes.get(dbId), claimedAt: clock.now() });
      }
      return taken.map(({ dbId, ownerId, volume }) => ({ dbId, ownerId, volume }));
    },
    async purge(dbId) {
      state.volumes.set(dbId, { ...state.volumes.get(dbId), purgedAt: clock.now() });
    },
    async keepAnew(dbId) {
      const { condemnedAt, claimedAt, purgedAt, removedAt } = state.volumes.get(dbId) ?? {};
      if (purgedAt !== undefined || removedAt !== undefined) return;
      const hourAgo = new Date(clock.now().getTime() - 3_600_000);
      const isDue = condemnedAt !== undefined || claimedAt !== undefined;
      state.containers = state.containers.map((one) =>
        one.dbId === dbId && one.deletedAt !== null && (isDue || one.deletedAt <= hourAgo)
          ? { ...one, deletedAt: clock.now() }
          : one,
      );
      state.volumes.delete(dbId);
    },
    async markRemoved(dbId) {
      const before = state.volumes.get(dbId);
      if (before?.claimedAt === undefined || before.removedAt !== undefined) return false;
      state.volumes.set(dbId, { ...before, removedAt: clock.now() });
      return true;
    },
  };
}
