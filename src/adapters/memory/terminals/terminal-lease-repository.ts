import type { Clock } from '../../../ports/clock.ts';
import type {
  NewTerminalLease,
  TerminalLeaseRepository,
} from '../../../ports/terminals/terminal-lease-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryTerminalLeases(state: MemoryState, clock: Clock): TerminalLeaseRepository {
  const silentSeconds = ({ run }: NewTerminalLease): number => {
    const seenAt = state.replicaRuns.get(run);
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
    async markEnding(stream) {
      for (const lease of state.terminalLeases) if (lease.stream === stream) lease.isEnding = true;
    },
    async remove(streams) {
      state.terminalLeases = state.terminalLeases.filter(({ stream }) => !streams.includes(stream));
    },
    async renew(run) {
      state.replicaRuns.set(run, clock.now());
    },
    inContainer: async (dbId) =>
      state.terminalLeases
        .filter((lease) => lease.dbId === dbId)
        .map(({ dbId: _, ...lease }) => ({
          ...lease,
          silentSeconds: silentSeconds({ ...lease, dbId }),
        })),
    async unattended({ replica, run, streams }, seconds) {
      const isLeft = (lease: NewTerminalLease): boolean =>
        lease.run === run
          ? !streams.includes(lease.stream)
          : lease.replica === replica || silentSeconds(lease) > seconds;
      return [...new Set(state.terminalLeases.filter(isLeft).map(({ dbId }) => dbId))];
    },
  };
}
