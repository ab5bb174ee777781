import type { ApiToken } from '../../domain/identity/token.ts';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';
import type { Use } from './session-repository.ts';

export type NewToken = Pick<ApiToken, 'userId' | 'name' | 'prefix' | 'scopes'> & {
  /** SHA-256 of the secret. */
  readonly hash: Buffer;
  /** From now by the database's clock; null for ever. */
  readonly lifeMs: number | null;
};

/** A token with all that decides whether it holds, read in one round trip; `now` is the database's clock. */
export type TokenWithUser = {
  readonly hash: Buffer;
  readonly token: ApiToken;
  readonly user: User;
  readonly now: Date;
  readonly requestsPerMinute: number;
  /** Of the user's tier. */
  readonly limits: UseLimits;
};

export interface TokenRepository {
  insert(token: NewToken): Promise<ApiToken>;
  /** Those that still open something, and all. True for as long as the user's row is locked. */
  count(userId: string): Promise<{ readonly live: number; readonly kept: number }>;
  /** Newest first, whatever their state. */
  listOwned(userId: string): Promise<readonly ApiToken[]>;
  /** Those of these hashes that exist, whatever their state. */
  findWithUser(hashes: readonly Buffer[]): Promise<readonly TokenWithUser[]>;
  findAllByIdWithUser(ids: readonly string[]): Promise<readonly TokenWithUser[]>;
  /** null when it is not the user's. The first revocation stays; `changed` says whether this was it. */
  revoke(id: string, userId: string): Promise<{ readonly token: ApiToken; readonly changed: boolean } | null>;
  /** Removes the row, and answers what it was; null when it is not the user's. */
  delete(id: string, userId: string): Promise<ApiToken | null>;
  /** Sets last_used_at, which never goes back. */
  touch(uses: readonly Use[]): Promise<void>;
}
