import { AGENT_NODE } from '../../../domain/containers/agents/agent.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { DiskUseRepository } from '../../../ports/containers/disk-use-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../memory-state.ts';
import { replace } from './container-repository.ts';

export const memoryDiskUse = (state: MemoryState, clock: Clock): DiskUseRepository => ({
  async record(dbId, { quota, usedMb, layerUsedMb = null }) {
    const found = state.containers.find((one) => one.dbId === dbId);
    if (found === undefined) return;
    const diskUsedMb = usedMb === undefined ? found.diskUsedMb : usedMb;
    const layer = { layerUsedMb: layerUsedMb ?? found.layerUsedMb };
    replace(state, { ...found, ...layer, diskQuota: quota ?? found.diskQuota, diskUsedMb });
  },

  async claimDue(seconds, count) {
    const now = clock.now();
    const measuredMs = ({ dbId }: StoredContainer): number => state.disksMeasuredAt.get(dbId)?.getTime() ?? 0;
    const isDue = (one: StoredContainer): boolean =>
      one.state === 'running' && one.node !== AGENT_NODE && now.getTime() - measuredMs(one) > seconds * 1000;
    const due = state.containers
      .filter(isDue)
      .sort((one, other) => measuredMs(one) - measuredMs(other))
      .slice(0, count);
    for (const { dbId } of due) state.disksMeasuredAt.set(dbId, now);
    return due.map((row) => asContainer(state, row));
  },
});
