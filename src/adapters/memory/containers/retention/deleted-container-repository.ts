import type { DeletedContainerRepository } from '../../../../ports/containers/retention/deleted-container-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../../memory-state.ts';
import { find } from '../container-repository.ts';

const isDeletedOf = (one: StoredContainer, ownerId: string): boolean =>
  one.ownerId === ownerId && one.state === 'deleted';

const isKept = (one: StoredContainer, ownerId: string): boolean =>
  isDeletedOf(one, ownerId) && one.runtimeId !== null;

/** Its volume is neither given up nor being removed. */
export const canComeBack = ({ volumes }: MemoryState, dbId: string): boolean => {
  const { claimedAt, purgedAt } = volumes.get(dbId) ?? {};
  return claimedAt === undefined && purgedAt === undefined;
};

const withVolume = ({ containers, volumes }: MemoryState): readonly StoredContainer[] =>
  containers.filter((one) => isKept(one, one.ownerId) && volumes.get(one.dbId)?.removedAt === undefined);

const withVolumeOf = (state: MemoryState, ownerId: string): readonly StoredContainer[] =>
  withVolume(state).filter((one) => one.ownerId === ownerId);

export const memoryDeletedContainers = (state: MemoryState): DeletedContainerRepository => ({
  findForUpdate: async (dbId, ownerId) =>
    find(state, (one) => one.dbId === dbId && isDeletedOf(one, ownerId) && canComeBack(state, dbId)),

  listRestorable: async (ownerId) =>
    state.containers
      .filter((one) => isKept(one, ownerId) && canComeBack(state, one.dbId))
      .sort((a, b) => (b.deletedAt?.getTime() ?? 0) - (a.deletedAt?.getTime() ?? 0))
      .map((row) => asContainer(state, row)),

  countKept: async (ownerId) => withVolumeOf(state, ownerId).length,

  countGivenUpEphemeral: async (ownerId) =>
    withVolumeOf(state, ownerId).filter(
      ({ dbId, lifetime }) => lifetime.isEphemeral && state.volumes.get(dbId)?.purgedAt !== undefined,
    ).length,

  async sumKept() {
    const all = withVolume(state);
    return { count: all.length, usedMb: all.reduce((sum, { diskUsedMb }) => sum + (diskUsedMb ?? 0), 0) };
  },
});
