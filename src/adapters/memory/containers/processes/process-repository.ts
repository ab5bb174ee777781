import type { Clock } from '../../../../ports/clock.ts';
import {
  KEPT_HOURS,
  MAX_ENDED,
  type ProcessRepository,
} from '../../../../ports/containers/processes/process-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

const HOUR_MS = 3_600_000;

export function memoryProcessRecords(state: MemoryState, clock: Clock): ProcessRepository {
  type Row = MemoryState['processes'][number];
  const isActive = (row: Row): boolean => row.state.kind !== 'ended';
  const endedMs = ({ state }: Row): number => (state.kind === 'ended' ? state.endedAt.getTime() : 0);
  const shown = (dbId: string): readonly Row[] => {
    const all = state.processes.filter((row) => row.dbId === dbId);
    const oldest = clock.now().getTime() - KEPT_HOURS * HOUR_MS;
    const ended = all.filter((row) => !isActive(row) && endedMs(row) > oldest);
    const last = new Set(ended.sort((a, b) => endedMs(b) - endedMs(a)).slice(0, MAX_ENDED));
    return all.filter((row) => isActive(row) || last.has(row)).reverse();
  };
  return {
    async insert(process) {
      const made = { ...process, startedAt: clock.now(), state: { kind: 'starting' } as const };
      state.processes.push(made);
      return made;
    },

    find: async (id, dbId) => state.processes.find((row) => row.id === id && row.dbId === dbId) ?? null,

    list: async (dbId) => shown(dbId),

    async count(dbId, userId) {
      const active = state.processes.filter(isActive);
      return {
        ofContainer: active.filter((row) => row.dbId === dbId).length,
        ofUser: active.filter((row) => row.userId === userId).length,
      };
    },

    hasNamed: async (dbId, name) =>
      state.processes.some((row) => row.dbId === dbId && row.name === name && isActive(row)),

    async advance(id, from, to) {
      const found = state.processes.find((row) => row.id === id && row.state.kind === from);
      state.processes = state.processes.map((row) => (row === found ? { ...row, state: to } : row));
      return found !== undefined;
    },

    async resize(id, terminal) {
      state.processes = state.processes.map((row) => (row.id === id ? { ...row, terminal } : row));
    },

    async busyContainers() {
      const busy = new Set(state.processes.filter(isActive).map(({ dbId }) => dbId));
      return state.containers
        .filter(({ dbId }) => busy.has(dbId))
        .map(({ dbId, ownerId }) => ({ dbId, ownerId }));
    },

    async forget() {
      const kept = new Set(state.processes.flatMap(({ dbId }) => shown(dbId)));
      state.processes = state.processes.filter((row) => kept.has(row));
    },
  };
}
