import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { type ApiToken, mayGrant, type TokenRequest } from '../../../domain/identity/token.ts';
import type { User } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { InTransaction, Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { deriveToken } from './child-tokens.ts';
import { withLockedCaller } from './lock-caller.ts';
import { insertToken, type MintedToken, type NoteToken, recordEnd, UNLIMITED } from './token-records.ts';

export type ApiTokenDeps = {
  /** Announces the changes. */
  readonly storage: Storage;
  /** The last use not yet written. */
  readonly pendingUse: (tokenId: string) => Date | null;
};

export type ApiTokens = ReturnType<typeof apiTokens>;

/** The caller's own API tokens; another user's look unknown. */
export function apiTokens({ storage, pendingUse }: ApiTokenDeps) {
  const { repositories, inTransaction } = storage;
  const withPendingUse = (token: ApiToken): ApiToken => {
    const pending = pendingUse(token.id);
    const newer = pending !== null && (token.lastUsedAt === null || token.lastUsedAt < pending);
    return newer ? { ...token, lastUsedAt: pending } : token;
  };

  return {
    /**
     * `secret` is the only copy; `note` records the new token in the same transaction. The user's row is locked, so
     * concurrent requests cannot exceed the limit.
     */
    async create(
      request: TokenRequest,
      caller: Caller,
      origin: RequestOrigin,
      note?: NoteToken,
    ): AsyncResult<MintedToken> {
      const { user } = caller;
      const granted = mayGrant(user, request.scopes);
      if (!granted.ok) return granted;
      return await withLockedCaller(inTransaction, caller, async (tx) => {
        return await insertToken(tx, { ...request, ...UNLIMITED, userId: user.id }, origin, note);
      });
    },

    derive: deriveToken(storage),

    /** Newest first, including this process's unwritten uses. */
    async list({ user }: Caller): Promise<readonly ApiToken[]> {
      return (await repositories.tokens.listOwned(user.id)).map(withPendingUse);
    },

    /** Ends its descendants too. Repeating it changes nothing and returns the first time. */
    revoke: (id: string, { user }: Caller, origin: RequestOrigin): AsyncResult<ApiToken> =>
      changed(inTransaction, id, user, async (tx, tokenId) => {
        const done = await tx.tokens.revoke(tokenId, user.id);
        if (done?.changed) await recordEnd(tx, 'token_revoked', done, origin);
        return done?.token ?? null;
      }),

    /** Removes the token for good, and revokes its descendants; only the audit remembers it. */
    delete: (id: string, { user }: Caller, origin: RequestOrigin): AsyncResult<ApiToken> =>
      changed(inTransaction, id, user, async (tx, tokenId) => {
        const done = await tx.tokens.delete(tokenId, user.id);
        if (done !== null) await recordEnd(tx, 'token_deleted', done, origin);
        return done?.token ?? null;
      }),
  };
}

/** Changes the user's token by `work`, which returns null for an unknown one. */
async function changed(
  inTransaction: InTransaction,
  id: string,
  user: User,
  work: (tx: Repositories, tokenId: string) => Promise<ApiToken | null>,
): AsyncResult<ApiToken> {
  if (!isUuid(id)) return refuse({ code: 'token_not_found' });
  const token = await inTransaction(async (tx) => {
    await tx.users.lock(user.id);
    return await work(tx, id.toLowerCase());
  });
  return token === null ? refuse({ code: 'token_not_found' }) : ok(token);
}
