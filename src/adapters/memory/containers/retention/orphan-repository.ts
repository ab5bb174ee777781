import type { Clock } from '../../../../ports/clock.ts';
import type { OrphanRepository } from '../../../../ports/containers/retention/orphan-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

export const memoryOrphans = (state: MemoryState, clock: Clock): OrphanRepository => ({
  async remember(runtimeIds) {
    state.orphans = new Map(runtimeIds.map((id) => [id, state.orphans.get(id) ?? clock.now()]));
    return state.orphans;
  },
});
