import type { Clock } from '../../../ports/clock.ts';
import type {
  NewTerminalLease,
  TerminalLeaseRepository,
} from '../../../ports/terminals/terminal-lease-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryTerminalLeases(state: MemoryState, clock: Clock): TerminalLeaseRepository {
  const silentSeconds = ({ runId }: Pick<NewTerminalLease, 'runId'>): number => {
    const seenAt = state.replicaRuns.get(runId);
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
      // Replaced: a transaction that is undone keeps the rows of before.
      state.terminalLeases = state.terminalLeases.map((lease) =>
        lease.streamId === streamId ? { ...lease, isEnding: true } : lease,
      );
    },
    async remove(streamIds) {
      state.terminalLeases = state.terminalLeases.filter(({ streamId }) => !streamIds.includes(streamId));
    },
    async renew(runId) {
      state.replicaRuns.set(runId, clock.now());
    },
    liveRuns: async (seconds) =>
      [...state.replicaRuns.keys()].filter((runId) => silentSeconds({ runId }) <= seconds),
    inContainer: async (dbId) =>
      state.terminalLeases
        .filter((lease) => lease.dbId === dbId)
        .map(({ dbId: _, ...lease }) => ({
          ...lease,
          silentSeconds: silentSeconds(lease),
        })),
    async unattended({ replica, runId, streamIds }, seconds) {
      const isLeft = (lease: NewTerminalLease): boolean =>
        lease.runId === runId
          ? !streamIds.includes(lease.streamId)
          : lease.replica === replica || silentSeconds(lease) > seconds;
      return [...new Set(state.terminalLeases.filter(isLeft).map(({ dbId }) => dbId))];
    },
  };
}
