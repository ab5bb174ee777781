import { type Caller, type RequestOrigin, reaches } from '../../../domain/identity/caller.ts';
import {
  type ChildDraft,
  type ChildRequest,
  checkChildRequest,
  limitsWithoutParent,
  narrow,
  resolveContainers,
} from '../../../domain/identity/child-token.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import type { Scope } from '../../../domain/identity/scope.ts';
import {
  MAX_LIVE_FOR_TOKENS,
  MAX_LIVE_TOKENS,
  mayGrant,
  tokenState,
} from '../../../domain/identity/token.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { NewToken, TokenWithUser } from '../../../ports/identity/token-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { withLockedCaller } from './lock-caller.ts';
import { insertToken, type MintedToken, type NoteToken } from './token-records.ts';

type Limits = Pick<NewToken, 'parentId' | 'depth' | 'containers' | 'maxUses' | 'usesLeft' | 'notAfter'>;

/**
 * Makes a token that can do at most what the caller's credential can, or the token that a signed-in user names. The
 * parent is read again with the user's row locked, so one that ends meanwhile has no child.
 */
export const deriveToken =
  ({ inTransaction, repositories }: Pick<Storage, 'inTransaction' | 'repositories'>) =>
  async (
    draft: ChildDraft,
    caller: Caller,
    origin: RequestOrigin,
    note?: NoteToken,
  ): AsyncResult<MintedToken> => {
    const { user } = caller;
    const parent = await parentOf(repositories, draft.parentId, caller);
    if (!parent.ok) return parent;
    const asked = checkChildRequest(draft, parent.value?.scopes ?? null);
    if (!asked.ok) return asked;
    const { name, scopes, lifeMs } = asked.value;
    return await withLockedCaller(inTransaction, caller, async (tx) => {
      const containers = await chosen(tx, asked.value, caller);
      if (!containers.ok) return containers;
      const request = { ...asked.value, containers: containers.value };
      const limits = await limitsOf(tx, request, caller, parent.value?.id ?? null);
      if (!limits.ok) return limits;
      const wanted = { userId: user.id, name, scopes, lifeMs, ...limits.value };
      const maxLive = caller.credential.kind === 'login' ? MAX_LIVE_TOKENS : MAX_LIVE_FOR_TOKENS;
      return await insertToken(tx, wanted, origin, note, maxLive);
    });
  };

type Parent = { readonly id: string; readonly scopes: readonly Scope[] };

const NO_PARENT = refuse({
  code: 'validation_failed',
  fields: { parentId: 'must be the id of a token of yours that has not ended' },
} as const);

const isOwnAndLive = (found: TokenWithUser | undefined, userId: string): boolean =>
  found !== undefined && found.user.id === userId && tokenState(found.token, found.now) === 'active';

/** The token that the new one is below: the caller's, or the one that a signed-in user names. null for none. */
async function parentOf(
  { tokens }: Pick<Repositories, 'tokens'>,
  named: unknown,
  { user, credential }: Caller,
): AsyncResult<Parent | null> {
  if (credential.kind === 'api_token') {
    if (named === undefined) return ok({ id: credential.tokenId, scopes: credential.scopes });
    const fields = { parentId: 'must be absent: only a login token may name another token' };
    return refuse({ code: 'validation_failed', fields });
  }
  if (named === undefined) return ok(null);
  if (typeof named !== 'string' || !isUuid(named)) return NO_PARENT;
  const [found] = await tokens.findAllByIdWithUser([named.toLowerCase()]);
  return found !== undefined && isOwnAndLive(found, user.id) ? ok(found.token) : NO_PARENT;
}

/** The db ids of the containers that the request names, among those that the caller sees. */
async function chosen(
  { sharedContainers }: Repositories,
  { containers }: ChildRequest,
  caller: Caller,
): AsyncResult<ChildRequest['containers']> {
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
  parentId: string | null,
): AsyncResult<Limits> {
  if (parentId === null) {
    const granted = mayGrant(user, request.scopes);
    return granted.ok ? ok({ ...limitsWithoutParent(request), notAfter: null }) : granted;
  }
  const [parent] = await tokens.findAllByIdWithUser([parentId]);
  if (credential.kind === 'login' && !isOwnAndLive(parent, user.id)) return NO_PARENT;
  if (parent === undefined || isDisabled(parent.user, parent.now))
    return refuse({ code: 'api_token_rejected' });
  const granted = mayGrant(parent.user, request.scopes);
  if (!granted.ok) return granted;
  const narrowed = narrow(parent.token, request, parent.now);
  return narrowed.ok ? ok({ ...narrowed.value, notAfter: parent.token.expiresAt }) : narrowed;
}
