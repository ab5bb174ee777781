import type { ContainerQuery } from '../../api/containers/containers.ts';
import type { Container } from '../../api/types.ts';
import type { Rules } from './part.ts';

type Key = string | number | null;

/** By what the service sorts. What a container uses now is not in its row. */
const KEYS: Readonly<Record<string, (one: Container) => Key>> = {
  name: ({ name }) => name,
  status: ({ status }) => status,
  disk: ({ volume }) => volume.used_mb,
  last_used_at: ({ last_used_at }) => last_used_at,
};

/** A missing value comes last in both directions. */
function compareKeys(a: Key, b: Key, isReverse: boolean): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b === isReverse ? 1 : -1;
}

/** Of equal ones, the newest comes first. */
function inOrderOf(sort: string): Rules<Container>['compare'] {
  const isReverse = sort.startsWith('-');
  const keyOf = KEYS[sort.replace('-', '')];
  if (keyOf === undefined) return null;
  return (one, other) =>
    compareKeys(keyOf(one), keyOf(other), isReverse) || compareKeys(one.created_at, other.created_at, true);
}

const hasText = ({ name, image, role }: Container, text: string): boolean =>
  `${name}\n${image}\n${role}`.toLowerCase().includes(text.toLowerCase());

/** The service's rules for the answer to a query. */
export const rulesOf = ({ q, status, shared, sort }: ContainerQuery): Rules<Container> => ({
  matches: (one) =>
    one.status !== 'deleted' &&
    hasText(one, q) &&
    (status === '' || one.status === status) &&
    (shared === '' || (one.collaboration !== undefined) === (shared === 'true')),
  compare: inOrderOf(sort),
});

const ADMIN_KEYS: Readonly<Record<string, (one: Container) => Key>> = {
  ...KEYS,
  name: ({ name }) => name.toLowerCase(),
  owner: ({ owner }) => owner.username.toLowerCase(),
};

/** The service's order for administrators. Rows come only with pages, so that all match. */
export function adminRulesOf({ sort }: { readonly sort: string }): Rules<Container> {
  const isReverse = sort.startsWith('-');
  const keyOf = ADMIN_KEYS[sort.replace('-', '')];
  return {
    matches: () => true,
    compare:
      keyOf === undefined
        ? null
        : (one, other) =>
            compareKeys(keyOf(one), keyOf(other), isReverse) ||
            compareKeys(one.db_id, other.db_id, isReverse),
  };
}
