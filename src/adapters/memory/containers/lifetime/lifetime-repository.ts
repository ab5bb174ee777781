import { isAgent } from '../../../../domain/containers/agents/agent.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type {
  LifetimeRepository,
  LivingContainer,
} from '../../../../ports/containers/lifetime/lifetime-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../../memory-state.ts';
import { replace } from '../container-repository.ts';

const ENDING_STATES: readonly string[] = ['running', 'stopped', 'failed'];

export function memoryLifetimes(state: MemoryState, clock: Clock): LifetimeRepository {
  const rowOf = (dbId: string) => state.containers.find((one) => one.dbId === dbId);
  const fromNow = (seconds: number | null): Date | null =>
    seconds === null ? null : new Date(clock.now().getTime() + seconds * 1_000);
  const toLiving = (row: StoredContainer): LivingContainer => ({
    container: asContainer(state, row),
    warned: state.lifetimeWarnings.get(row.dbId) ?? null,
    now: clock.now(),
  });
  const endsWithin = (row: StoredContainer, seconds: number): boolean => {
    const { endsAt, idleSeconds, activeAt } = asContainer(state, row).lifetime;
    const since = Math.max(...[row.startedAt, row.createdAt, activeAt].map((at) => at?.getTime() ?? 0));
    const idleEnd = idleSeconds === null ? Number.POSITIVE_INFINITY : since + idleSeconds * 1_000;
    const end = Math.min(endsAt?.getTime() ?? Number.POSITIVE_INFINITY, idleEnd);
    return end <= clock.now().getTime() + seconds * 1_000;
  };

  return {
    async change(dbId, { labels, ttlSeconds, keepSeconds, ...rest }) {
      const row = rowOf(dbId);
      if (row === undefined) return null;
      const lifetime = {
        ...row.lifetime,
        ...rest,
        ...(ttlSeconds === undefined ? {} : { endsAt: fromNow(ttlSeconds) }),
        ...(keepSeconds === undefined ? {} : { keptUntil: fromNow(keepSeconds) }),
      };
      const changed = { ...row, lifetime, labels: labels ?? row.labels };
      replace(state, changed);
      return asContainer(state, changed);
    },

    async limitToTier(dbId) {
      const row = rowOf(dbId);
      const owner = state.users.find(({ id }) => id === row?.ownerId);
      const tier = state.tiers.find(({ name }) => name === owner?.tier);
      if (row === undefined || tier === undefined || isAgent(row)) return null;
      const { maxTtlSeconds, maxIdleSeconds } = tier;
      if (maxTtlSeconds === 0 && maxIdleSeconds === 0) return null;
      const { endsAt, idleSeconds, keptUntil } = row.lifetime;
      const latest = fromNow(maxTtlSeconds) as Date;
      const isWithin = endsAt !== null && endsAt > clock.now() && endsAt < latest;
      const lifetime = {
        ...row.lifetime,
        ...(maxTtlSeconds === 0 ? {} : { endsAt: isWithin ? endsAt : latest }),
        ...(maxTtlSeconds > 0 && keptUntil !== null && keptUntil > latest ? { keptUntil: latest } : {}),
        ...(maxIdleSeconds === 0
          ? {}
          : { idleSeconds: Math.min(idleSeconds ?? maxIdleSeconds, maxIdleSeconds) }),
      };
      const changed = { ...row, lifetime };
      replace(state, changed);
      return asContainer(state, changed);
    },

    listEnding: async (withinSeconds) =>
      state.containers
        .filter((row) => ENDING_STATES.includes(row.state) && endsWithin(row, withinSeconds))
        .filter(({ dbId }) => !state.operations.some((one) => one.dbId === dbId && one.outcome === null))
        .map(toLiving),

    async findForUpdate(dbId) {
      const row = rowOf(dbId);
      return row === undefined ? null : toLiving(row);
    },

    async markWarned(dbId, end, leadSeconds) {
      const row = rowOf(dbId);
      const before = state.lifetimeWarnings.get(dbId);
      const isSame = before !== undefined && Math.abs(before.end.getTime() - end.getTime()) < 1_000;
      const lead = Math.round(leadSeconds);
      if (row === undefined || row.state === 'deleted' || (isSame && before.leadSeconds <= lead))
        return false;
      state.lifetimeWarnings.set(dbId, { end, leadSeconds: lead, at: clock.now() });
      return true;
    },

    async noteUses(uses) {
      for (const { dbId, kind } of uses) {
        if ((rowOf(dbId)?.lifetime.idleSeconds ?? null) === null) continue;
        const kinds = state.activity.get(dbId) ?? new Map<string, Date>();
        state.activity.set(dbId, kinds.set(kind, clock.now()));
      }
    },

    activity: async (dbId) =>
      [...(state.activity.get(dbId) ?? [])]
        .map(([kind, lastAt]) => ({ kind, lastAt }))
        .sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime()),
  };
}
