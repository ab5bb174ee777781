import type { Clock } from '../../../../ports/clock.ts';
import type { AgentEnrolmentRepository } from '../../../../ports/containers/agents/agent-enrolment-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

export const memoryAgentEnrolments = (state: MemoryState, clock: Clock): AgentEnrolmentRepository => {
  const usable = () => state.agentEnrolments.filter(({ expiresAt }) => expiresAt > clock.now());
  const find = (codeHash: Buffer) => usable().find((one) => one.codeHash === codeHash.toString('hex'));
  return {
    async insert({ userId, codeHash, lifeSeconds }) {
      const expiresAt = new Date(clock.now().getTime() + lifeSeconds * 1000);
      state.agentEnrolments = [...usable(), { userId, codeHash: codeHash.toString('hex'), expiresAt }];
      return expiresAt;
    },

    count: async (userId) => usable().filter((one) => one.userId === userId).length,

    userOf: async (codeHash) => find(codeHash)?.userId ?? null,

    async take(codeHash) {
      const found = find(codeHash);
      state.agentEnrolments = state.agentEnrolments.filter((one) => one !== found);
      return found?.userId ?? null;
    },

    async endAll(id) {
      state.agentEnrolments = state.agentEnrolments.filter(({ userId }) => userId !== id);
    },
  };
};
