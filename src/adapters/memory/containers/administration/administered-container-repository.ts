import { isAgent } from '../../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../../domain/containers/container.ts';
import type {
  AdministeredContainerRepository,
  AdministeredFilter,
  AdministeredSort,
} from '../../../../ports/containers/administration/administered-container-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../../memory-state.ts';
import { pageOf } from '../../pagination.ts';
import { canComeBack } from '../retention/deleted-container-repository.ts';

export const memoryAdministeredContainers = (state: MemoryState): AdministeredContainerRepository => ({
  async page({ after, limit, sort: { by, isReverse } }, filter) {
    const all = state.containers
      .filter((one) => !isAgent(one) && isShown(state, one, filter.isDeleted))
      .map((row) => asContainer(state, row))
      .filter((container) => isFound(container, filter))
      .sort((a, b) => compare(KEYS[by](a), KEYS[by](b), isReverse) || compare(a.dbId, b.dbId, isReverse));
    const page = pageOf(
      all.map((container) => ({ ...container, id: container.dbId })),
      { after, limit },
    );
    const isGuests = ({ ownerId }: Container): boolean =>
      state.users.some(({ id, guestUntil }) => id === ownerId && guestUntil !== null);
    const items = page.items.map(({ id: _, ...container }) => ({ container, isGuests: isGuests(container) }));
    return { items, next: page.next, total: all.length };
  },
});

function isShown(state: MemoryState, one: StoredContainer, isDeleted: boolean): boolean {
  if (!isDeleted) return one.state !== 'deleted';
  const hasOwner = state.users.some(({ id, deletedAt }) => id === one.ownerId && deletedAt === null);
  return one.state === 'deleted' && one.runtimeId !== null && hasOwner && canComeBack(state, one.dbId);
}

function isFound(
  { dbId, name, ownerId, ownerUsername, image, role, state: now }: Container,
  { owner, state, dbIds, text = '' }: AdministeredFilter,
): boolean {
  const words = `${name}\n${ownerUsername}\n${image}\n${role}`.toLowerCase();
  return (
    (owner === undefined || owner === ownerId || owner.toLowerCase() === ownerUsername.toLowerCase()) &&
    (state === undefined || state === now) &&
    (dbIds === undefined || dbIds.includes(dbId)) &&
    words.includes(text.toLowerCase())
  );
}

type Key = string | number | null;

const KEYS: { readonly [S in AdministeredSort]: (of: Container) => Key } = {
  created_at: ({ createdAt }) => createdAt.getTime(),
  last_used_at: ({ lastUsedAt }) => lastUsedAt?.getTime() ?? null,
  name: ({ name }) => name.toLowerCase(),
  owner: ({ ownerUsername }) => ownerUsername.toLowerCase(),
  status: ({ state }) => state,
  disk: ({ diskUsedMb }) => diskUsedMb,
};

function compare(a: Key, b: Key, isReverse: boolean): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b === isReverse ? 1 : -1;
}
