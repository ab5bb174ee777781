import { randomBytes } from 'node:crypto';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, Origin } from '../../../domain/identity/caller.ts';
import {
  type ApiToken,
  checkTokenLimit,
  mayGrant,
  mintToken,
  TOKEN_RANDOM_BYTES,
  type TokenRequest,
} from '../../../domain/identity/token.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import { orRollBack } from '../../transaction.ts';
import { sha256 } from '../auth/secrets.ts';

export type ApiTokenDeps = {
  /** Announces the changes. */
  readonly storage: Storage;
  /** The last use not yet written. */
  readonly pendingUse: (tokenId: string) => Date | null;
};

export type ApiTokens = ReturnType<typeof apiTokens>;

/** The caller's own API tokens; another user's look unknown. */
export function apiTokens({ storage: { repositories, inTransaction }, pendingUse }: ApiTokenDeps) {
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
      { user }: Caller,
      origin: Origin,
      note?: (tx: Repositories, token: ApiToken) => Promise<void>,
    ): Promise<Result<{ readonly token: ApiToken; readonly secret: string }, DomainError>> {
      const granted = mayGrant(user, request.scopes);
      if (!granted.ok) return granted;
      const { secret, prefix } = mintToken(randomBytes(TOKEN_RANDOM_BYTES));
      return await orRollBack(inTransaction, async (tx) => {
        await tx.users.lock(user.id);
        const { live, stored } = await tx.tokens.count(user.id);
        const room = checkTokenLimit(live, stored);
        if (!room.ok) return room;
        const wanted = { ...request, userId: user.id, prefix, hash: sha256(secret) };
        const token = await tx.tokens.insert(wanted);
        await record(tx, 'token_created', token, origin);
        await note?.(tx, token);
        return ok({ token, secret });
      });
    },

    /** Newest first, including this process's unwritten uses. */
    async list({ user }: Caller): Promise<readonly ApiToken[]> {
      return (await repositories.tokens.listOwned(user.id)).map(withPendingUse);
    },

    /** Repeating it changes nothing and returns the first time. */
    async revoke(id: string, { user }: Caller, origin: Origin): Promise<Result<ApiToken, DomainError>> {
      if (!isUuid(id)) return refuse({ code: 'token_not_found' });
      const revoked = await inTransaction(async (tx) => {
        const done = await tx.tokens.revoke(id.toLowerCase(), user.id);
        if (done?.changed) await record(tx, 'token_revoked', done.token, origin);
        return done?.token ?? null;
      });
      return orUnknown(revoked);
    },

    /** Removes the token for good; only the audit remembers it. */
    async delete(id: string, { user }: Caller, origin: Origin): Promise<Result<ApiToken, DomainError>> {
      if (!isUuid(id)) return refuse({ code: 'token_not_found' });
      const deleted = await inTransaction(async (tx) => {
        const token = await tx.tokens.delete(id.toLowerCase(), user.id);
        if (token !== null) await record(tx, 'token_deleted', token, origin);
        return token;
      });
      return orUnknown(deleted);
    },
  };
}

const orUnknown = (token: ApiToken | null): Result<ApiToken, DomainError> =>
  token === null ? refuse({ code: 'token_not_found' }) : ok(token);

async function record(
  tx: Repositories,
  action: 'token_created' | 'token_revoked' | 'token_deleted',
  { id, userId, prefix }: ApiToken,
  origin: Origin,
): Promise<void> {
  const details = JSON.stringify({ id, token_prefix: prefix });
  await tx.audit.append({ userId, action, ...origin, details });
}
