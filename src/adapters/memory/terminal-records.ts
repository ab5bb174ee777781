import type { Clock } from '../../ports/clock.ts';
import type { NewTerminalRecord, TerminalRecords } from '../../ports/terminal-records.ts';
import type { MemoryState } from './state.ts';

export function memoryTerminalRecords(state: MemoryState, clock: Clock): TerminalRecords {
  const made = (record: NewTerminalRecord) => {
    const now = clock.now();
    return { ...record, createdAt: now, lastPingAt: now };
  };
  return {
    async insert(record) {
      state.terminals.push(made(record));
    },

    async ping(records) {
      for (const record of records) {
        const at = state.terminals.findIndex(({ id }) => id === record.id);
        const found = state.terminals[at];
        if (found === undefined) state.terminals.push(made(record));
        else state.terminals[at] = { ...found, lastPingAt: clock.now() };
      }
    },

    async remove(id) {
      state.terminals = state.terminals.filter((record) => record.id !== id);
    },

    async sweep(silentSeconds) {
      const oldest = clock.now().getTime() - silentSeconds * 1000;
      state.terminals = state.terminals.filter(({ lastPingAt }) => lastPingAt.getTime() >= oldest);
    },

    list: async () => [...state.terminals].reverse(),
  };
}
