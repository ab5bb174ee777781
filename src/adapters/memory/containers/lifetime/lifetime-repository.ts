import { isAgent } from '../../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../../domain/containers/container.ts';
import type { Lifetime } from '../../../../domain/containers/lifetime/lifetime.ts';
import type { Tier } from '../../../../domain/containers/resources.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type {
  LifetimeRepository,
  LivingContainer,
} from '../../../../ports/containers/lifetime/lifetime-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../../memory-state.ts';
import { replace } from '../container-repository.ts';

const canEnd = ({ state, lifetime }: StoredContainer): boolean =>
  state === 'running' || (lifetime.isEphemeral && (state === 'stopped' || state === 'failed'));

const rowOf = (state: MemoryState, dbId: string) => state.containers.find((one) => one.dbId === dbId);

/** null for no end. */
const after = (now: Date, seconds: number | null): Date | null =>
  seconds === null ? null : new Date(now.getTime() + seconds * 1_000);

function endsWithin({ startedAt, createdAt, lifetime }: Container, now: Date, seconds: number): boolean {
  const { endsAt, idleSeconds, activeAt, keptUntil, isEphemeral } = lifetime;
  const since = Math.max(...[startedAt, createdAt, activeAt].map((at) => at?.getTime() ?? 0));
  const idleEnd = idleSeconds === null ? Number.POSITIVE_INFINITY : since + idleSeconds * 1_000;
  const isSpent = endsAt !== null && endsAt <= (startedAt ?? createdAt) && !isEphemeral;
  const hardEnd = isSpent ? Number.POSITIVE_INFINITY : (endsAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const end = Math.max(Math.min(hardEnd, idleEnd), keptUntil?.getTime() ?? 0);
  return end <= now.getTime() + seconds * 1_000;
}

/** The lifetime within the tier's limits, counted from now. */
function limited(lifetime: Lifetime, { maxTtlSeconds, maxIdleSeconds }: Tier, now: Date): Lifetime {
  const { endsAt, idleSeconds, keptUntil } = lifetime;
  const latest = new Date(now.getTime() + maxTtlSeconds * 1_000);
  const isWithin = endsAt !== null && endsAt > now && endsAt < latest;
  return {
    ...lifetime,
    ...(maxTtlSeconds === 0 ? {} : { endsAt: isWithin ? endsAt : latest }),
    ...(maxTtlSeconds > 0 && keptUntil !== null && keptUntil > latest ? { keptUntil: latest } : {}),
    ...(maxIdleSeconds === 0 ? {} : { idleSeconds: Math.min(idleSeconds ?? maxIdleSeconds, maxIdleSeconds) }),
  };
}

function changed(state: MemoryState, row: StoredContainer): Container {
  replace(state, row);
  return asContainer(state, row);
}

const memoryUses = (state: MemoryState, clock: Clock): Pick<LifetimeRepository, 'noteUses' | 'activity'> => ({
  async noteUses(uses) {
    for (const { dbId, kind } of uses) {
      if ((rowOf(state, dbId)?.lifetime.idleSeconds ?? null) === null) continue;
      const kinds = state.activity.get(dbId) ?? new Map<string, Date>();
      state.activity.set(dbId, kinds.set(kind, clock.now()));
    }
  },

  activity: async (dbId) =>
    [...(state.activity.get(dbId) ?? [])]
      .map(([kind, lastAt]) => ({ kind, lastAt }))
      .sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime()),
});

export function memoryLifetimes(state: MemoryState, clock: Clock): LifetimeRepository {
  const toLiving = (row: StoredContainer): LivingContainer => ({
    container: asContainer(state, row),
    warned: state.lifetimeWarnings.get(row.dbId) ?? null,
    now: clock.now(),
  });

  return {
    ...memoryUses(state, clock),

    async change(dbId, { labels, ttlSeconds, keepSeconds, ...rest }) {
      const row = rowOf(state, dbId);
      if (row === undefined) return null;
      const lifetime = {
        ...row.lifetime,
        ...rest,
        ...(ttlSeconds === undefined ? {} : { endsAt: after(clock.now(), ttlSeconds) }),
        ...(keepSeconds === undefined ? {} : { keptUntil: after(clock.now(), keepSeconds) }),
      };
      return changed(state, { ...row, lifetime, labels: labels ?? row.labels });
    },

    async limitToTier(dbId) {
      const row = rowOf(state, dbId);
      const owner = state.users.find(({ id }) => id === row?.ownerId);
      const tier = state.tiers.find(({ name }) => name === owner?.tier);
      if (row === undefined || tier === undefined || isAgent(row)) return null;
      if (tier.maxTtlSeconds === 0 && tier.maxIdleSeconds === 0) return null;
      return changed(state, { ...row, lifetime: limited(row.lifetime, tier, clock.now()) });
    },

    listEnding: async (withinSeconds) =>
      state.containers
        .filter(canEnd)
        .filter((row) => endsWithin(asContainer(state, row), clock.now(), withinSeconds))
        .filter(({ dbId }) => !state.operations.some((one) => one.dbId === dbId && one.outcome === null))
        .map(toLiving),

    async findForUpdate(dbId) {
      const row = rowOf(state, dbId);
      return row === undefined ? null : toLiving(row);
    },

    async markWarned(dbId, end, leadSeconds) {
      const row = rowOf(state, dbId);
      const before = state.lifetimeWarnings.get(dbId);
      const isSame = before !== undefined && Math.abs(before.end.getTime() - end.getTime()) < 1_000;
      if (row === undefined || row.state === 'deleted' || (isSame && before.leadSeconds <= leadSeconds))
        return false;
      state.lifetimeWarnings.set(dbId, { end, leadSeconds, at: clock.now() });
      return true;
    },
  };
}
