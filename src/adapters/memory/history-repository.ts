import type { Clock } from '../../ports/clock.ts';
import {
  type EndedKind,
  type HistoryRepository,
  TOKENS_PER_SESSION,
} from '../../ports/history-repository.ts';
import type { MemoryState } from './memory-state.ts';

const DAY_MS = 86_400_000;

type Pick = <T>(all: readonly T[], endOf: (one: T) => Date | null | undefined) => Set<T>;

export const memoryHistory = (state: MemoryState, clock: Clock): HistoryRepository => ({
  async forget(kind, days, limit) {
    const before = clock.now().getTime() - days * DAY_MS;
    const endedBefore: Pick = (all, endOf) => {
      const ended = all.flatMap((one) => ({ one, at: endOf(one)?.getTime() ?? Number.POSITIVE_INFINITY }));
      const over = ended.filter(({ at }) => at < before).toSorted((a, b) => a.at - b.at);
      return new Set(over.slice(0, limit).map(({ one }) => one));
    };
    return FORGETS[kind](state, endedBefore, limit);
  },
});

type Forget = (state: MemoryState, endedBefore: Pick, limit: number) => number;

const FORGETS: { readonly [K in EndedKind]: Forget } = {
  operations(state, endedBefore) {
    const operations = endedBefore(state.operations, ({ finishedAt }) => finishedAt);
    state.operations = state.operations.filter((one) => !operations.has(one));
    return operations.size;
  },

  sessions(state, endedBefore, limit) {
    const ended = endedBefore(state.sessions, ({ revokedAt, expiresAt }) => revokedAt ?? expiresAt);
    const ids = new Set([...ended].map(({ id }) => id));
    const ofEnded = [...state.refreshTokens].filter(([, { sessionId }]) => ids.has(sessionId));
    const tokens = ofEnded.slice(0, limit * TOKENS_PER_SESSION);
    for (const [hash] of tokens) state.refreshTokens.delete(hash);
    const keep = new Set([...state.refreshTokens.values()].map(({ sessionId }) => sessionId));
    const sessions = [...ended].filter(({ id }) => !keep.has(id));
    state.sessions = state.sessions.filter((one) => !sessions.includes(one));
    return tokens.length + sessions.length;
  },

  shares(state, endedBefore) {
    const shares = endedBefore(state.collaborations, ({ endedAt, expiresAt }) =>
      endedAt !== null && endedAt < expiresAt ? endedAt : expiresAt,
    );
    dropShares(state, shares);
    return shares.size;
  },

  containers(state, endedBefore) {
    const containers = endedBefore(state.containers, ({ dbId, state: now }) =>
      now === 'deleted' ? state.volumes.get(dbId)?.removedAt : null,
    );
    const dbIds = new Set([...containers].map(({ dbId }) => dbId));
    dropShares(state, new Set(state.collaborations.filter(({ dbId }) => dbIds.has(dbId))));
    state.operations = state.operations.filter(({ dbId }) => !dbIds.has(dbId));
    state.containers = state.containers.filter((one) => !containers.has(one));
    for (const dbId of dbIds) {
      state.layerImages.delete(dbId);
      state.volumes.delete(dbId);
    }
    return containers.size;
  },

  snapshots(state, endedBefore) {
    const images = new Set([...state.layerImages.values()].map(({ image }) => image));
    const inUse = new Set(state.operations.map(({ snapshot }) => snapshot?.id));
    const unused = state.snapshots.filter(
      ({ id, layerImage }) => !inUse.has(id) && (layerImage === null || !images.has(layerImage)),
    );
    const snapshots = endedBefore(unused, ({ removedAt }) => removedAt);
    state.snapshots = state.snapshots.filter((one) => !snapshots.has(one));
    return snapshots.size;
  },

  announcements(state, endedBefore) {
    const announcements = endedBefore(state.announcements, ({ endsAt }) => endsAt);
    state.announcements = state.announcements.filter((one) => !announcements.has(one));
    return announcements.size;
  },

  outages(state, endedBefore) {
    const outages = endedBefore(state.healthOutages, ({ to }) => to);
    state.healthOutages = state.healthOutages.filter((one) => !outages.has(one));
    return outages.size;
  },
};

function dropShares(state: MemoryState, shares: ReadonlySet<MemoryState['collaborations'][number]>): void {
  const ids = new Set([...shares].map(({ id }) => id));
  state.collaborations = state.collaborations.filter((one) => !shares.has(one));
  state.participations = state.participations.filter(({ collaborationId }) => !ids.has(collaborationId));
}
