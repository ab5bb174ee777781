import type { DomainError } from '../../../domain/errors.ts';
import { type Caller, type Origin, reaches } from '../../../domain/identity/caller.ts';
import {
  type ChildDraft,
  type ChildRequest,
  checkChildRequest,
  limitsWithoutParent,
  narrow,
  resolveContainers,
} from '../../../domain/identity/child-token.ts';
import { mayGrant } from '../../../domain/identity/token.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { NewToken } from '../../../ports/identity/token-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import { orRollBack } from '../../transaction.ts';
import { insertToken, type MintedToken, type NoteToken } from './token-records.ts';

type Limits = Pick<NewToken, 'parentId' | 'depth' | 'containers' | 'maxUses' | 'usesLeft' | 'notAfter'>;

/**
 * Makes a token that can do at most what the caller's credential can. The parent is read again with the user's row
 * locked, so one that ends meanwhile has no child.
 */
export const deriveToken =
  ({ inTransaction }: Pick<Storage, 'inTransaction'>) =>
  async (
    draft: ChildDraft,
    caller: Caller,
    origin: Origin,
    note?: NoteToken,
  ): Promise<Result<MintedToken, DomainError>> => {
    const { user, credential } = caller;
    const asked = checkChildRequest(draft, credential.kind === 'login' ? null : credential.scopes);
    if (!asked.ok) return asked;
    const { name, scopes, lifeMs } = asked.value;
    return await orRollBack(inTransaction, async (tx) => {
      await tx.users.lock(user.id);
      const containers = await chosen(tx, asked.value, caller);
      if (!containers.ok) return containers;
      const limits = await limitsOf(tx, { ...asked.value, containers: containers.value }, caller);
      if (!limits.ok) return limits;
      const wanted = { userId: user.id, name, scopes, lifeMs, ...limits.value };
      return await insertToken(tx, wanted, origin, note);
    });
  };

/** The db ids of the containers that the request names, among those that the caller sees. */
async function chosen(
  { sharedContainers }: Repositories,
  { containers }: ChildRequest,
  caller: Caller,
): Promise<Result<ChildRequest['containers'], DomainError>> {
  if (containers === null) return ok(null);
  const visible = await sharedContainers.listVisible(caller.user.id);
  const known = visible
    .map(({ container: { dbId, name }, access }) => ({ dbId, name: access === null ? name : null }))
    .filter(({ dbId }) => reaches(caller, dbId));
  return resolveContainers(containers, known);
}

async function limitsOf(
  { tokens }: Repositories,
  request: ChildRequest,
  { user, credential }: Caller,
): Promise<Result<Limits, DomainError>> {
  if (credential.kind !== 'api_token') {
    const granted = mayGrant(user, request.scopes);
    return granted.ok ? ok({ ...limitsWithoutParent(request), notAfter: null }) : granted;
  }
  const [parent] = await tokens.findAllByIdWithUser([credential.tokenId]);
  if (parent === undefined || parent.user.disabledAt !== null) return refuse({ code: 'api_token_rejected' });
  const granted = mayGrant(parent.user, request.scopes);
  if (!granted.ok) return granted;
  const narrowed = narrow(parent.token, request, parent.now);
  return narrowed.ok ? ok({ ...narrowed.value, notAfter: parent.token.expiresAt }) : narrowed;
}
