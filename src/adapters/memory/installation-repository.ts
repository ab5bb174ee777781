import { isAgent } from '../../domain/containers/agents/agent.ts';
import type { InstallationRepository } from '../../ports/installation-repository.ts';
import type { MemoryState } from './memory-state.ts';

export function memoryInstallation(state: MemoryState): InstallationRepository {
  const setupRequired = async (): Promise<boolean> => !state.users.some((user) => user.role === 'admin');
  return {
    id: async () => state.installationId,
    swarmId: async () => state.swarmId,
    hasLeftSwarms: async () => state.hasLeftSwarms,
    hasContainers: async () => state.containers.some((each) => each.state !== 'deleted' && !isAgent(each)),
    async recordSwarm(id) {
      if (!state.hasLeftSwarms) state.swarmId ??= id;
      return state.swarmId;
    },
    async changeSwarm(id) {
      state.swarmId = id;
      state.hasLeftSwarms = id === null;
    },
    setupRequired,
    async setSetupCodeHash(hash) {
      if (await setupRequired()) state.setupCodeHash = hash.toString('hex');
    },
    isSetupCode: async (hash) => state.setupCodeHash === hash.toString('hex'),
    async spendSetupCode(hash) {
      if (state.setupCodeHash !== hash.toString('hex')) return false;
      state.setupCodeHash = null;
      return true;
    },
  };
}
