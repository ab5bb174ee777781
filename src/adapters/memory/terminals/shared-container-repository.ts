import { byPermission } from '../../../domain/terminals/collaboration.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { SharedContainerRepository } from '../../../ports/terminals/shared-container-repository.ts';
import { matches, ownContainers } from '../containers/container-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { sharesOf } from './shares.ts';

export function memorySharedContainers(state: MemoryState, clock: Clock): SharedContainerRepository {
  const { rows, isLive, present, nameOf, shared } = sharesOf(state, clock);
  return {
    findFor: async (userId, ref) => shared(userId).find(({ container }) => matches(container, ref)) ?? null,
    listVisible: async (userId) => [
      ...ownContainers(state, userId).map((container) => ({ container, access: null })),
      ...shared(userId),
    ],

    isShared: async (dbId) => rows().some((row) => row.dbId === dbId && isLive(row)),

    async scene(dbId) {
      const live = rows().filter((row) => row.dbId === dbId && isLive(row));
      const [first] = live;
      if (first === undefined) return null;
      const here = new Set(state.terminals.filter((one) => one.dbId === dbId).map(({ userId }) => userId));
      const owner = { userId: first.ownerId, owner: true, mode: 'control' } as const;
      const others = new Map(
        live
          .toSorted(byPermission)
          .reverse()
          .flatMap(({ id, mode }) => present(id).map(({ userId }) => [userId, mode] as const)),
      );
      const all = [owner, ...[...others].map(([userId, mode]) => ({ userId, owner: false, mode }))];
      return {
        size: first.size,
        present: all
          .filter(({ userId }) => here.has(userId))
          .map(({ userId, owner, mode }) => ({ userId, username: nameOf(userId), owner, mode }))
          .sort((a, b) => Number(b.owner) - Number(a.owner) || a.username.localeCompare(b.username)),
      };
    },

    async noteSize(dbId, size) {
      state.collaborations = rows().map((row) => (row.dbId === dbId && isLive(row) ? { ...row, size } : row));
    },
  };
}
