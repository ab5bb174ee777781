import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { ContainerRef } from '../../../domain/containers/container-ref.ts';
import { NO_LIFETIME } from '../../../domain/containers/lifetime/lifetime.ts';
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
      return isAgent(container) && container.dbId === ref.agentId;
  }
};

const live = ({ containers }: MemoryState) => containers.filter((container) => container.state !== 'deleted');

/** The user's live containers, newest first. */
export const ownContainers = (state: MemoryState, ownerId: string): readonly Container[] =>
  ownedBy(state, ownerId)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .map((row) => asContainer(state, row));

const ownedBy = (state: MemoryState, ownerId: string) =>
  live(state).filter((container) => container.ownerId === ownerId);

const nameInUse = (state: MemoryState, ownerId: string, name: string): boolean =>
  ownedBy(state, ownerId).some((one) => one.name === name);

/** The first row of them all, deleted ones too. */
export function find(state: MemoryState, which: (one: StoredContainer) => boolean): Container | null {
  const row = state.containers.find(which);
  return row === undefined ? null : asContainer(state, row);
}

export function replace(state: MemoryState, changed: StoredContainer): void {
  state.containers = state.containers.map((one) => (one.dbId === changed.dbId ? changed : one));
}

export const memoryContainers = (state: MemoryState, clock: Clock): ContainerRepository => ({
  ...containerReads(state),
  ...containerChanges(state, clock),
});

const containerReads = (
  state: MemoryState,
): Pick<ContainerRepository, 'nameInUse' | 'findOwned' | 'listAllLive' | 'countLive' | 'findAny'> => ({
  nameInUse: async (ownerId, name) => nameInUse(state, ownerId, name),

  findOwned: async (ref, ownerId) =>
    find(state, (one) => one.state !== 'deleted' && one.ownerId === ownerId && matches(one, ref)),

  listAllLive: async () =>
    live(state)
      .filter((one) => !isAgent(one))
      .map((row) => asContainer(state, row)),

  countLive: async (ownerId) =>
    ownedBy(state, ownerId).filter((one) => !isAgent(one)).length +
    state.operations.filter((one) => one.newOwnerId === ownerId && one.outcome === null).length,

  findAny: async (dbId) => find(state, (one) => one.dbId === dbId),
});

const containerChanges = (
  state: MemoryState,
  clock: Clock,
): Pick<ContainerRepository, 'insert' | 'changeState' | 'transfer' | 'touch'> => ({
  async insert(container) {
    if (nameInUse(state, container.ownerId, container.name)) throw new NameTaken(container.name);
    const owner = state.users.find((user) => user.id === container.ownerId);
    const ownerUsername = owner?.username ?? '';
    const row: StoredContainer = { ...UNUSED, ...container, ownerUsername, createdAt: clock.now() };
    state.containers.push(row);
    return asContainer(state, row);
  },

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
    const others = ownedBy(state, found.ownerId).filter((one) => one.dbId !== dbId);
    const appears = found.state === 'deleted' || changed.name !== found.name;
    if (appears && others.some((one) => one.name === changed.name)) throw new NameTaken(changed.name);
    replace(state, changed);
    if (change.state !== 'deleted') state.volumes.delete(dbId);
    return asContainer(state, changed);
  },

  async transfer(dbId, fromUserId, toUserId, name) {
    const found = state.containers.find((one) => one.dbId === dbId && one.ownerId === fromUserId);
    if (found === undefined || !['running', 'stopped', 'failed'].includes(found.state)) return null;
    if (nameInUse(state, toUserId, name)) throw new NameTaken(name);
    const ownerUsername = state.users.find((user) => user.id === toUserId)?.username ?? '';
    replace(state, { ...found, ownerId: toUserId, ownerUsername, name });
    const isOfIt = (processId: string) =>
      state.processes.some((one) => one.id === processId && one.dbId === dbId);
    state.processOutputs = state.processOutputs.map((row) =>
      isOfIt(row.processId) ? { ...row, ownerId: toUserId } : row,
    );
    state.processes = state.processes.map((one) => (one.dbId === dbId ? { ...one, userId: toUserId } : one));
    return find(state, (one) => one.dbId === dbId);
  },

  async touch(dbId) {
    const found = state.containers.find((one) => one.dbId === dbId);
    if (found) replace(state, { ...found, lastUsedAt: clock.now() });
  },
});

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
  labels: {},
  lifetime: NO_LIFETIME,
} as const;
