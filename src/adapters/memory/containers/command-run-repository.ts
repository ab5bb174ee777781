import type { Clock } from '../../../ports/clock.ts';
import type { CommandRunRepository } from '../../../ports/containers/inside/command-run-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryCommandRuns(state: MemoryState, clock: Clock): CommandRunRepository {
  const isOf = (nameHash: Buffer) => (one: { readonly nameHash: string }) =>
    one.nameHash === nameHash.toString('hex');
  return {
    async begin(nameHash, replica) {
      const run = { nameHash: nameHash.toString('hex'), replica, startedAt: clock.now(), end: null };
      state.commandRuns = [...state.commandRuns.filter((one) => !isOf(nameHash)(one)), run];
    },
    async end(nameHash, end) {
      state.commandRuns = state.commandRuns.map((one) => (isOf(nameHash)(one) ? { ...one, end } : one));
    },
    async forget(nameHash) {
      state.commandRuns = state.commandRuns.filter((one) => !isOf(nameHash)(one));
    },
    async find(nameHash) {
      const found = state.commandRuns.find(isOf(nameHash));
      if (found === undefined) return null;
      const { nameHash: _, ...run } = found;
      return run;
    },
  };
}
