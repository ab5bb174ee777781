import type { memoryStorage } from '../../../src/adapters/memory/index.ts';

const older = (at: Date | null | undefined, hours: number) =>
  at == null ? at : new Date(at.getTime() - hours * 3_600_000);

/** Makes what was done to a container and its volume, as far as it was, older by so many hours. */
export const ageVolumeIn =
  ({ state }: Pick<ReturnType<typeof memoryStorage>, 'state'>) =>
  async (dbId: string, hours: number): Promise<void> => {
    state.containers = state.containers.map((one) =>
      one.dbId === dbId ? { ...one, deletedAt: older(one.deletedAt, hours) ?? null } : one,
    );
    const volume = Object.entries(state.volumes.get(dbId) ?? {});
    const aged = volume.map(([key, at]) => [key, older(at, hours)]);
    if (volume.length > 0) state.volumes.set(dbId, Object.fromEntries(aged));
  };
