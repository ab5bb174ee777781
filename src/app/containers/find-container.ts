import type { Container } from '../../domain/containers/container.ts';
import { parseContainerRef } from '../../domain/containers/container-ref.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { VisibleContainer } from '../../ports/terminals/shared-container-repository.ts';

type Lookups = Pick<Repositories, 'containers' | 'sharedContainers'>;

/** The caller's own container or one shared with the caller, by either id. */
export async function findVisible(
  { containers, sharedContainers }: Lookups,
  id: string,
  { user }: Caller,
): Promise<Result<VisibleContainer, DomainError>> {
  const ref = parseContainerRef(id);
  if (ref === null) return refuse({ code: 'container_not_found' });
  const own = await containers.findOwned(ref, user.id);
  if (own !== null) return ok({ container: own, access: null });
  const shared = await sharedContainers.findFor(user.id, ref);
  return shared === null ? refuse({ code: 'container_not_found' }) : ok(shared);
}

/**
 * The caller's own container, by either id. Unknown, foreign, deleted and malformed are one refusal; only participants
 * learn that it is another's.
 */
export async function findOwn(
  repositories: Lookups,
  id: string,
  caller: Caller,
): Promise<Result<Container, DomainError>> {
  const found = await findVisible(repositories, id, caller);
  if (!found.ok) return found;
  return found.value.access === null ? ok(found.value.container) : refuse({ code: 'not_authorized' });
}

/** The caller's own containers and those shared with the caller. */
export const listVisible = (
  { sharedContainers }: Pick<Lookups, 'sharedContainers'>,
  { user }: Caller,
): Promise<readonly VisibleContainer[]> => sharedContainers.listVisible(user.id);

/** Null until the engine has made one. */
export const handleOf = ({ node, runtimeId, ownerId }: Container): RuntimeHandle | null =>
  runtimeId === null ? null : { node, runtimeId, ownerId };
