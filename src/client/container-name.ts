import type { Containers } from './groups/containers.ts';
import type { CallOptions, Schemas } from './request/api.ts';
import { BerthError } from './request/errors.ts';

type ContainerBody = Schemas['Container'];

const ID = /^([0-9a-f]{12,64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|agent:[0-9a-f-]{36})$/i;

/**
 * The container of this name, else of this id. Of several with the name the caller's own is meant. Throws
 * `container_not_found`, or `ambiguous_name` with the candidates in its message.
 */
export async function findContainer(
  containers: Containers,
  ownId: () => Promise<string>,
  nameOrId: string,
  options: CallOptions = {},
): Promise<ContainerBody> {
  const named = await containers.list({ name: nameOrId }, options).all();
  const same = named.filter(({ name }) => name === nameOrId);
  const own = same.length > 1 ? await ownOf(same, ownId) : same;
  const [only] = own.length === 1 ? own : [];
  if (only !== undefined) return only;
  if (same.length > 1) throw ambiguous(nameOrId, own.length > 1 ? own : same);
  if (ID.test(nameOrId)) return await containers.get(nameOrId, options);
  throw new BerthError(404, 'container_not_found', `no container has the name ${nameOrId}`);
}

async function ownOf(
  same: readonly ContainerBody[],
  ownId: () => Promise<string>,
): Promise<readonly ContainerBody[]> {
  const id = await ownId();
  return same.filter(({ owner }) => owner.id === id);
}

const ambiguous = (name: string, all: readonly ContainerBody[]): BerthError => {
  const list = all.map(({ db_id, owner }) => `${db_id} of ${owner.username}`).join(', ');
  return new BerthError(409, 'ambiguous_name', `several containers have the name ${name}: ${list}`);
};
