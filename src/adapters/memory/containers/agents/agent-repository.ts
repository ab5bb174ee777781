import type { Agent } from '../../../../domain/containers/agents/agent.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { AgentRepository } from '../../../../ports/containers/agents/agent-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

type Stored = MemoryState['agents'][number];

const plain = ({ lastSeenAt: _, ...agent }: Stored): Agent => agent;
const isLive = ({ state }: Stored): boolean => state.kind !== 'forgotten';
const isAt = ({ state }: Stored, replica: string): boolean =>
  state.kind === 'connected' && state.replica === replica;

function findIn({ agents }: MemoryState, dbId: string): Agent | null {
  const found = agents.find((one) => one.dbId === dbId);
  return found === undefined ? null : plain(found);
}

export const memoryAgents = (state: MemoryState, clock: Clock): AgentRepository => ({
  async findByMachine(ownerId, machineId) {
    const isMeant = (one: Stored): boolean => one.ownerId === ownerId && one.machineId === machineId;
    const found = state.agents.find((one) => isMeant(one) && isLive(one));
    return found === undefined ? null : plain(found);
  },

  find: async (dbId) => findIn(state, dbId),
  findForUpdate: async (dbId) => findIn(state, dbId),

  countLive: async (ownerId) => state.agents.filter((one) => one.ownerId === ownerId && isLive(one)).length,

  async put(agent) {
    const at = clock.now();
    const before = state.agents.find(({ dbId }) => dbId === agent.dbId);
    const others = state.agents.filter((one) => one !== before);
    const lastSeenAt = agent.state.kind === 'connected' ? at : (before?.lastSeenAt ?? at);
    state.agents = [...others, { ...agent, lastSeenAt }];
    if (agent.state.kind === 'forgotten')
      state.volumes.set(agent.dbId, { purgedAt: at, claimedAt: at, removedAt: at });
  },

  async seen(replica, dbIds) {
    state.agents = state.agents.map((one) =>
      dbIds.includes(one.dbId) && isAt(one, replica) ? { ...one, lastSeenAt: clock.now() } : one,
    );
  },

  connectedTo: async (replica) => state.agents.filter((one) => isAt(one, replica)).map(plain),

  async unattended(silentSeconds) {
    const oldestMs = clock.now().getTime() - silentSeconds * 1000;
    const isSilent = (one: Stored): boolean =>
      one.state.kind === 'connected' && one.lastSeenAt.getTime() < oldestMs;
    return state.agents.filter(isSilent).map(plain);
  },
});
