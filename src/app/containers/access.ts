import type { Caller } from '../../domain/caller.ts';
import type { Container } from '../../domain/container.ts';
import { parseContainerRef } from '../../domain/container-id.ts';
import type { DomainError } from '../../domain/errors.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { RuntimeHandle } from '../../ports/container-runtime.ts';
import type { Repositories } from '../../ports/repositories.ts';

/** The caller's container by either id. Unknown, foreign, deleted and malformed are one refusal. */
export async function findOwn(
  { containers }: Pick<Repositories, 'containers'>,
  id: string,
  caller: Caller,
): Promise<Result<Container, DomainError>> {
  const ref = parseContainerRef(id);
  const found = ref && (await containers.findOwned(ref, caller.user.id));
  return found === null ? refuse({ code: 'container_not_found' }) : ok(found);
}

/** Where the row's container is; null until the engine has made one. */
export const handleOf = ({ node, runtimeId }: Container): RuntimeHandle | null =>
  runtimeId === null ? null : { node, runtimeId };
