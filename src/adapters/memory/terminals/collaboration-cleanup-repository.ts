import type { Clock } from '../../../ports/clock.ts';
import type { CollaborationCleanupRepository } from '../../../ports/terminals/collaboration-cleanup-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { sharesOf } from './shares.ts';

export function memoryCollaborationCleanup(state: MemoryState, clock: Clock): CollaborationCleanupRepository {
  const { rows, isOver, isLive, participationsOf, present, change } = sharesOf(state, clock);
  return {
    overdue: async () =>
      rows()
        .filter((row) => row.endedAt === null && isOver(row))
        .map(({ id }) => id),
    awaitingCleanUp: async () =>
      rows()
        .filter(({ endedAt, cleanedUpAt }) => endedAt !== null && cleanedUpAt === null)
        .map(({ id }) => id),
    markCleanedUp: async (id) => change(id, { cleanedUpAt: clock.now() }),

    async leftovers(id) {
      const dbId = rows().find((row) => row.id === id)?.dbId;
      const others = rows().filter(
        (row) => row.id !== id && row.dbId === dbId && row.mode === 'control' && isLive(row),
      );
      const busy = new Set(others.flatMap((row) => present(row.id).map(({ userId }) => userId)));
      return participationsOf(id)
        .map(({ userId }) => userId)
        .filter((userId) => !busy.has(userId));
    },
  };
}
