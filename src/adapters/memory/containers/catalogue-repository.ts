import {
  compareTiers,
  DEFAULT_IMAGE_KEY,
  DEFAULT_ROLE_KEY,
  defaultFirst,
  type Image,
  type Role,
} from '../../../domain/containers/catalogue.ts';
import type { Tier } from '../../../domain/containers/resources.ts';
import type { CatalogueEdits, CatalogueRepository } from '../../../ports/containers/catalogue-repository.ts';
import type { MemoryState, StoredContainer } from '../memory-state.ts';

type Lists = { tiers: Tier; images: Image; roles: Role };

export function memoryCatalogue(state: MemoryState): CatalogueRepository {
  const hasLive = (which: (container: StoredContainer) => boolean): boolean =>
    state.containers.some((container) => container.state !== 'deleted' && which(container));

  function edits<L extends keyof Lists>(
    list: L,
    keyOf: (entry: Lists[L]) => string,
    isUsed: (key: string) => boolean,
  ): CatalogueEdits<Lists[L]> {
    const entries = () => state[list] as Lists[L][];
    const write = (changed: Lists[L][]): void => void Object.assign(state, { [list]: changed });
    const find = (key: string) => entries().find((entry) => keyOf(entry) === key) ?? null;
    return {
      async insert(entry) {
        if (find(keyOf(entry)) !== null) return false;
        write([...entries(), entry]);
        return true;
      },
      findForUpdate: async (key) => find(key),
      replace: async (entry) => write(entries().map((one) => (keyOf(one) === keyOf(entry) ? entry : one))),
      isUsed: async (key) => isUsed(key),
      remove: async (key) => write(entries().filter((one) => keyOf(one) !== key)),
    };
  }

  const image = edits(
    'images',
    ({ key }) => key,
    (key) => hasLive(({ imageKey }) => imageKey === key),
  );
  const role = edits(
    'roles',
    ({ key }) => key,
    (key) => hasLive((container) => container.role === key),
  );
  const tier = edits(
    'tiers',
    ({ name }) => name,
    (name) => state.users.some((user) => user.tier === name),
  );
  return {
    tiers: async () => state.tiers.toSorted(compareTiers),
    tier: tier.findForUpdate,
    images: async () => state.images.toSorted(defaultFirst(DEFAULT_IMAGE_KEY)),
    roles: async () => state.roles.toSorted(defaultFirst(DEFAULT_ROLE_KEY)),
    role: role.findForUpdate,
    keep: async (imageKey, roleKey) =>
      (await image.findForUpdate(imageKey)) !== null && (await role.findForUpdate(roleKey)) !== null,
    editing: { tier, image, role },
  };
}
