import type { Clock } from '../../ports/clock.ts';
import type { History } from '../../ports/history.ts';
import type { MemoryState } from './state.ts';

const DAY_MS = 86_400_000;

export const memoryHistory = (state: MemoryState, clock: Clock): History => ({
  async forget(days, limit) {
    const before = clock.now().getTime() - days * DAY_MS;
    const endedBefore = <T>(all: readonly T[], endOf: (one: T) => Date | null | undefined): Set<T> => {
      const ended = all.flatMap((one) => ({ one, at: endOf(one)?.getTime() ?? Number.POSITIVE_INFINITY }));
      const over = ended.filter(({ at }) => at < before).toSorted((a, b) => a.at - b.at);
      return new Set(over.slice(0, limit).map(({ one }) => one));
    };
    const operations = endedBefore(state.operations, ({ finishedAt }) => finishedAt);
    state.operations = state.operations.filter((one) => !operations.has(one));

    const sessions = endedBefore(state.sessions, ({ revokedAt, expiresAt }) => revokedAt ?? expiresAt);
    const sessionIds = new Set([...sessions].map(({ id }) => id));
    state.sessions = state.sessions.filter((one) => !sessions.has(one));
    for (const [hash, { sessionId }] of state.refreshTokens)
      if (sessionIds.has(sessionId)) state.refreshTokens.delete(hash);

    const shares = endedBefore(state.collaborations, ({ endedAt, expiresAt }) =>
      endedAt !== null && endedAt < expiresAt ? endedAt : expiresAt,
    );
    dropShares(state, shares);

    const containers = endedBefore(state.containers, ({ dbId, state: now }) =>
      now === 'deleted' ? state.volumes.get(dbId)?.removedAt : null,
    );
    const dbIds = new Set([...containers].map(({ dbId }) => dbId));
    dropShares(state, new Set(state.collaborations.filter(({ containerId }) => dbIds.has(containerId))));
    state.operations = state.operations.filter(({ dbId }) => !dbIds.has(dbId));
    state.containers = state.containers.filter((one) => !containers.has(one));
    for (const dbId of dbIds) {
      state.carried.delete(dbId);
      state.volumes.delete(dbId);
    }
    return operations.size + sessions.size + shares.size + containers.size;
  },
});

function dropShares(state: MemoryState, shares: ReadonlySet<MemoryState['collaborations'][number]>): void {
  const ids = new Set([...shares].map(({ id }) => id));
  state.collaborations = state.collaborations.filter((one) => !shares.has(one));
  state.collaborationParts = state.collaborationParts.filter(
    ({ collaborationId }) => !ids.has(collaborationId),
  );
}
