import type { Container } from '../../../domain/containers/container.ts';
import type { ContainerRef } from '../../../domain/containers/container-ref.ts';
import { NO_ROLE_SETUP } from '../../../domain/containers/role-setup.ts';
import type { Clock } from '../../../ports/clock.ts';
import { type ContainerRepository, NameTaken } from '../../../ports/containers/container-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../memory-state.ts';

export const matches = (container: StoredContainer, ref: ContainerRef): boolean => {
  switch (ref.kind) {
    case 'db_id':
      return container.dbId === ref.dbId;
    case 'runtime_id':
      return container.runtimeId?.startsWith(ref.prefix) ?? false;
    case 'agent':
      return false;
  }
};

export function memoryContainers(state: MemoryState, clock: Clock): ContainerRepository {
  const live = () => state.containers.filter((container) => container.state !== 'deleted');
  const ownedBy = (ownerId: string) => live().filter((container) => container.ownerId === ownerId);
  const nameInUse = (ownerId: string, name: string): boolean =>
    ownedBy(ownerId).some((one) => one.name === name);
  const canComeBack = (dbId: string): boolean => {
    const { claimedAt, purgedAt } = state.volumes.get(dbId) ?? {};
    return claimedAt === undefined && purgedAt === undefined;
  };
  const read = (row: StoredContainer): Container => asContainer(state, row);
  const readOrNull = (row: StoredContainer | undefined): Container | null =>
    row === undefined ? null : read(row);
  const replace = (changed: StoredContainer): void => {
    state.containers = state.containers.map((one) => (one.dbId === changed.dbId ? changed : one));
  };

  return {
    async insert(container) {
      if (nameInUse(container.ownerId, container.name)) throw new NameTaken(container.name);
      const owner = state.users.find((user) => user.id === container.ownerId);
      const ownerUsername = owner?.username ?? '';
      state.containers.push({ ...container, ...UNUSED, ownerUsername, createdAt: clock.now() });
    },

    nameInUse: async (ownerId, name) => nameInUse(ownerId, name),

    findOwned: async (ref, ownerId) => readOrNull(ownedBy(ownerId).find((one) => matches(one, ref))),

    listOwned: async (ownerId) =>
      ownedBy(ownerId)
        .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
        .map(read),

    listDeleted: async (ownerId) =>
      state.containers
        .filter(
          (one) =>
            one.ownerId === ownerId &&
            one.state === 'deleted' &&
            one.runtimeId !== null &&
            canComeBack(one.dbId),
        )
        .sort((a, b) => (b.deletedAt?.getTime() ?? 0) - (a.deletedAt?.getTime() ?? 0))
        .map(read),

    countLive: async (ownerId) => ownedBy(ownerId).length,

    countKept: async (ownerId) =>
      state.containers.filter(
        (one) =>
          one.ownerId === ownerId &&
          one.state === 'deleted' &&
          one.runtimeId !== null &&
          state.volumes.get(one.dbId)?.removedAt === undefined,
      ).length,

    async changeState(dbId, from, { started, reason, ...change }) {
      const found = state.containers.find((one) => one.dbId === dbId);
      if (found === undefined || !from.includes(found.state)) return null;
      const now = clock.now();
      const changed: StoredContainer = {
        ...found,
        ...change,
        ...(change.runtimeId === undefined ? {} : { layerUsedMb: null }),
        stateReason: reason ?? null,
        ...(started ? { startedAt: now, lastUsedAt: now } : {}),
        deletedAt: change.state === 'deleted' ? now : null,
      };
      const others = ownedBy(found.ownerId).filter((one) => one.dbId !== dbId);
      const appears = found.state === 'deleted' || changed.name !== found.name;
      if (appears && others.some((one) => one.name === changed.name)) throw new NameTaken(changed.name);
      replace(changed);
      if (change.state !== 'deleted') state.volumes.delete(dbId);
      return read(changed);
    },

    async touch(dbId) {
      const found = state.containers.find((one) => one.dbId === dbId);
      if (found) replace({ ...found, lastUsedAt: clock.now() });
    },

    async recordDisk(dbId, { quota, usedMb, layerUsedMb = null }) {
      const found = state.containers.find((one) => one.dbId === dbId);
      if (found === undefined) return;
      const diskUsedMb = usedMb === undefined ? found.diskUsedMb : usedMb;
      const layer = { layerUsedMb: layerUsedMb ?? found.layerUsedMb };
      replace({ ...found, ...layer, diskQuota: quota ?? found.diskQuota, diskUsedMb });
    },

    async claimDiskMeasure(seconds) {
      const now = clock.now();
      const isDue = ({ dbId, state: at }: StoredContainer): boolean =>
        at === 'running' &&
        now.getTime() - (state.disksMeasuredAt.get(dbId)?.getTime() ?? 0) > seconds * 1000;
      const due = state.containers.filter(isDue);
      for (const { dbId } of due) state.disksMeasuredAt.set(dbId, now);
      return due.map(read);
    },

    findAny: async (dbId) => readOrNull(state.containers.find((one) => one.dbId === dbId)),

    findDeleted: async (dbId, ownerId) =>
      readOrNull(
        state.containers.find(
          (one) =>
            one.dbId === dbId && one.ownerId === ownerId && one.state === 'deleted' && canComeBack(dbId),
        ),
      ),

    async rememberOrphans(runtimeIds) {
      state.orphans = new Map(runtimeIds.map((id) => [id, state.orphans.get(id) ?? clock.now()]));
      return state.orphans;
    },

    listAllLive: async () => live().map(read),
  };
}

const UNUSED = {
  state: 'creating',
  stateReason: null,
  generation: 1,
  runtimeId: null,
  lastUsedAt: null,
  startedAt: null,
  deletedAt: null,
  roleSetup: NO_ROLE_SETUP,
  diskQuota: 'soft',
  diskUsedMb: null,
  layerUsedMb: null,
} as const;
