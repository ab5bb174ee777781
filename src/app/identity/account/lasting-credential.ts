import type { Caller } from '../../../domain/identity/caller.ts';
import { isDependent } from '../../../domain/identity/token.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';

/** Whether the caller may make an access that no other ends, such as an SSH key or a link: a dependent token may not. */
export async function mayMakeLasting(
  { tokens }: Pick<Repositories, 'tokens'>,
  { credential }: Caller,
): AsyncResult<null> {
  if (credential.kind !== 'api_token') return ok(null);
  const [found] = await tokens.findAllByIdWithUser([credential.tokenId]);
  if (found === undefined) return refuse({ code: 'api_token_rejected' });
  return isDependent(found.token) ? refuse({ code: 'token_dependent' }) : ok(null);
}
