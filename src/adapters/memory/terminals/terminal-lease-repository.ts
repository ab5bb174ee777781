import type { Clock } from '../../../ports/clock.ts';
import type { NewHold, TerminalHolds } from '../../../ports/terminals/terminal-lease-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryTerminalHolds(state: MemoryState, clock: Clock): TerminalHolds {
  const silentSeconds = ({ run }: NewHold): number => {
    const seenAt = state.replicaRuns.get(run);
    return seenAt === undefined
      ? Number.POSITIVE_INFINITY
      : (clock.now().getTime() - seenAt.getTime()) / 1_000;
  };
  return {
    async put(hold) {
      const isOther = (one: NewHold): boolean =>
        one.runtimeId !== hold.runtimeId || one.muxSession !== hold.muxSession;
      const isOnly = state.terminalHolds.every(isOther);
      state.terminalHolds.push({ ...hold, isEnding: false });
      return isOnly;
    },
    async markEnding(stream) {
      for (const hold of state.terminalHolds) if (hold.stream === stream) hold.isEnding = true;
    },
    async remove(streams) {
      state.terminalHolds = state.terminalHolds.filter(({ stream }) => !streams.includes(stream));
    },
    async renew(run) {
      state.replicaRuns.set(run, clock.now());
    },
    inContainer: async (dbId) =>
      state.terminalHolds
        .filter((hold) => hold.dbId === dbId)
        .map(({ dbId: _, ...hold }) => ({
          ...hold,
          silentSeconds: silentSeconds({ ...hold, dbId }),
        })),
    async unattended({ replica, run, streams }, seconds) {
      const isLeft = (hold: NewHold): boolean =>
        hold.run === run
          ? !streams.includes(hold.stream)
          : hold.replica === replica || silentSeconds(hold) > seconds;
      return [...new Set(state.terminalHolds.filter(isLeft).map(({ dbId }) => dbId))];
    },
  };
}
