import { coalescedByKey } from '../../concurrency/coalesce.ts';
import { isAgent } from '../../domain/containers/agents/agent.ts';
import type { Container } from '../../domain/containers/container.ts';
import { parseContainerRef } from '../../domain/containers/container-ref.ts';
import { type Caller, reaches } from '../../domain/identity/caller.ts';
import { ok, refuse } from '../../domain/result.ts';
import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { Repositories } from '../../ports/storage.ts';
import type {
  SharedContainerRepository,
  VisibleContainer,
} from '../../ports/terminals/shared-container-repository.ts';
import type { AsyncResult } from '../async-result.ts';

type Lookups = Pick<Repositories, 'containers' | 'sharedContainers'>;

/** The caller's own container or one shared with the caller, by either id, if the caller's credential reaches it. */
export async function findVisible(
  { containers, sharedContainers }: Lookups,
  id: string,
  caller: Caller,
): AsyncResult<VisibleContainer> {
  const ref = parseContainerRef(id);
  if (ref === null) return UNKNOWN;
  const { user } = caller;
  const own = await containers.findOwned(ref, user.id);
  const found =
    own === null ? await sharedContainers.findFor(user.id, ref) : { container: own, access: null };
  return found !== null && reaches(caller, found.container.dbId) ? ok(found) : UNKNOWN;
}

const UNKNOWN = refuse({ code: 'container_not_found' } as const);

/**
 * The caller's own container, by either id. Unknown, foreign, deleted and malformed are one refusal; only participants
 * learn that it is another's.
 */
export async function findOwn(repositories: Lookups, id: string, caller: Caller): AsyncResult<Container> {
  const found = await findVisible(repositories, id, caller);
  if (!found.ok) return found;
  return found.value.access === null ? ok(found.value.container) : refuse({ code: 'not_authorized' });
}

/** The same for what only containers of an engine have: agents are refused. */
export async function findOwnInEngine(
  repositories: Lookups,
  id: string,
  caller: Caller,
): AsyncResult<Container> {
  const found = await findOwn(repositories, id, caller);
  return found.ok && isAgent(found.value) ? refuse({ code: 'not_for_agents' }) : found;
}

/** The caller's own containers and those shared with the caller, as far as the caller's credential reaches. */
export const listVisible = async (
  { sharedContainers }: { readonly sharedContainers: Pick<SharedContainerRepository, 'listVisible'> },
  caller: Caller,
): Promise<readonly VisibleContainer[]> =>
  (await sharedContainers.listVisible(caller.user.id)).filter(({ container }) =>
    reaches(caller, container.dbId),
  );

/** The same for many requests at once: those of one user share a read, which starts after each of them. */
export function visibleLists({ sharedContainers }: Pick<Lookups, 'sharedContainers'>) {
  const shared = { listVisible: coalescedByKey((userId) => sharedContainers.listVisible(userId)) };
  return (caller: Caller) => listVisible({ sharedContainers: shared }, caller);
}

/** Null until the engine has made one. */
export const handleOf = ({ node, runtimeId, ownerId }: Container): RuntimeHandle | null =>
  runtimeId === null ? null : { node, runtimeId, ownerId };
