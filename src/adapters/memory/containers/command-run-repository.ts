import type { Clock } from '../../../ports/clock.ts';
import type { CommandRunRepository } from '../../../ports/containers/inside/command-run-repository.ts';
import type { MemoryState } from '../memory-state.ts';

const MINUTE_MS = 60_000;
const KEPT_MS = 10 * MINUTE_MS;
const FORGOTTEN_MS = 7 * 24 * 60 * MINUTE_MS;

export function memoryCommandRuns(state: MemoryState, clock: Clock): CommandRunRepository {
  const isOf = (nameHash: Buffer) => (one: { readonly nameHash: string }) =>
    one.nameHash === nameHash.toString('hex');
  return {
    async begin(nameHash, replica) {
      const run = {
        nameHash: nameHash.toString('hex'),
        replica,
        startedAt: clock.now(),
        end: null,
        endedAt: null,
      };
      state.commandRuns = [...state.commandRuns.filter((one) => !isOf(nameHash)(one)), run];
    },
    async end(nameHash, end) {
      state.commandRuns = state.commandRuns.map((one) =>
        isOf(nameHash)(one) ? { ...one, end, endedAt: clock.now() } : one,
      );
    },
    async forget(nameHash) {
      state.commandRuns = state.commandRuns.filter((one) => !isOf(nameHash)(one));
    },
    async find(nameHash) {
      const found = state.commandRuns.find(isOf(nameHash));
      if (found === undefined) return null;
      const { nameHash: _, endedAt: _e, ...run } = found;
      return run;
    },
    async sweep() {
      const ago = (time: Date | null) => (time === null ? 0 : clock.now().getTime() - time.getTime());
      state.commandRuns = state.commandRuns.filter(
        ({ startedAt, endedAt }) => ago(endedAt) <= KEPT_MS && ago(startedAt) <= FORGOTTEN_MS,
      );
    },
  };
}
