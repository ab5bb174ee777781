import type { Clock } from '../../../ports/clock.ts';
import type {
  NewTerminalLease,
  TerminalLeaseRepository,
} from '../../../ports/terminals/terminal-lease-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryTerminalLeases(state: MemoryState, clock: Clock): TerminalLeaseRepository {
  const silentSeconds = ({ incarnation }: Pick<NewTerminalLease, 'incarnation'>): number => {
    const seenAt = state.replicaRuns.get(incarnation);
    return seenAt === undefined
      ? Number.POSITIVE_INFINITY
      : (clock.now().getTime() - seenAt.getTime()) / 1_000;
  };
  return {
    async put(lease) {
      const isOther = (one: NewTerminalLease): boolean =>
        one.runtimeId !== lease.runtimeId || one.muxSession !== lease.muxSession;
      const isOnly = state.terminalLeases.every(isOther);
      state.terminalLeases.push({ ...lease, isEnding: false });
      return isOnly;
    },
    async markEnding(streamId) {
      for (const lease of state.terminalLeases) if (lease.streamId === streamId) lease.isEnding = true;
    },
    async remove(streamIds) {
      state.terminalLeases = state.terminalLeases.filter(({ streamId }) => !streamIds.includes(streamId));
    },
    async renew(incarnation) {
      state.replicaRuns.set(incarnation, clock.now());
    },
    liveRuns: async (seconds) =>
      [...state.replicaRuns.keys()].filter((incarnation) => silentSeconds({ incarnation }) <= seconds),
    inContainer: async (dbId) =>
      state.terminalLeases
        .filter((lease) => lease.dbId === dbId)
        .map(({ dbId: _, ...lease }) => ({
          ...lease,
          silentSeconds: silentSeconds(lease),
        })),
    async unattended({ replica, incarnation, streamIds }, seconds) {
      const isLeft = (lease: NewTerminalLease): boolean =>
        lease.incarnation === incarnation
          ? !streamIds.includes(lease.streamId)
          : lease.replica === replica || silentSeconds(lease) > seconds;
      return [...new Set(state.terminalLeases.filter(isLeft).map(({ dbId }) => dbId))];
    },
  };
}
