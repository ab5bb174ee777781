import type { TerminalCloseRequestRepository } from '../../../ports/terminals/terminal-close-request-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export const memoryTerminalCloseRequests = (state: MemoryState): TerminalCloseRequestRepository => ({
  async insert(terminalId) {
    const isNew = state.terminals.some(({ id, closing }) => id === terminalId && !closing);
    state.terminals = state.terminals.map((one) => (one.id === terminalId ? { ...one, closing: true } : one));
    return isNew;
  },

  listFor: async (replica) =>
    state.terminals.filter((one) => one.replica === replica && one.closing).map(({ id }) => id),
});
