import { AGENT_NODE } from '../../../../domain/containers/agents/agent.ts';
import { hasEnded } from '../../../../domain/identity/people/account-end.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Person, PersonRepository } from '../../../../ports/identity/people/person-repository.ts';
import type { MemoryState } from '../../memory-state.ts';
import { pageOf } from '../../pagination.ts';
import { withoutPassword } from '../user-repository.ts';

type StoredUser = MemoryState['users'][number];

export function memoryPeople(state: MemoryState, clock: Clock): PersonRepository {
  const toPerson = (stored: StoredUser): Person => {
    const { id, tier } = stored;
    const seen = [
      ...state.sessions.filter(({ userId }) => userId === id).map(({ lastSeenAt }) => lastSeenAt),
      ...state.apiTokens.filter(({ userId }) => userId === id).map(({ lastUsedAt }) => lastUsedAt),
    ].filter((at) => at !== null);
    const live = state.containers.filter(
      (one) => one.ownerId === id && one.state !== 'deleted' && one.node !== AGENT_NODE,
    );
    return {
      user: withoutPassword(stored),
      disabledReason: stored.disabledReason,
      lastSeenAt: seen.length === 0 ? null : new Date(Math.max(...seen.map((at) => at.getTime()))),
      containers: live.length,
      maxContainers: state.tiers.find(({ name }) => name === tier)?.maxContainers ?? 0,
      mfaEnabled: state.totp.get(id)?.confirmedAt != null,
      hasPassword: stored.passwordHash !== null,
      isBeingDeleted: state.userRemovals.some(({ userId }) => userId === id),
    };
  };
  return {
    async page(request, { role, tier, search } = {}) {
      const text = search?.toLowerCase() ?? '';
      const matching = state.users.filter(
        (user) =>
          user.deletedAt === null &&
          (role === undefined || user.role === role) &&
          (tier === undefined || user.tier === tier) &&
          (user.id === text ||
            [user.username, user.email ?? ''].some((name) => name.toLowerCase().includes(text))),
      );
      const { items, next } = pageOf(matching.reverse(), request);
      return { items: items.map(toPerson), next };
    },
    async find(id) {
      const found = state.users.find((user) => user.id === id && user.deletedAt === null);
      return found === undefined ? null : toPerson(found);
    },
    async freeUsernames(names) {
      const present = state.users.filter(({ deletedAt }) => deletedAt === null);
      const taken = new Set(present.map(({ username }) => username.toLowerCase()));
      return names.filter((name) => !taken.has(name.toLowerCase()));
    },
    ended: async (after, limit) =>
      state.users
        .filter((user) => user.disabledAt === null && hasEnded(user, clock.now()))
        .map(({ id }) => id)
        .filter((id) => after === null || id > after)
        .sort()
        .slice(0, limit),
  };
}
