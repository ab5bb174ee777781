import type { ApiToken } from '../../domain/identity/token.ts';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';
import type { Use } from './session-repository.ts';

export type NewToken = Pick<ApiToken, 'userId' | 'name' | 'prefix' | 'scopes'> & {
  /** SHA-256 of the secret. */
  readonly hash: Buffer;
  /** From now by the database's clock; null: for ever. */
  readonly lifeMs: number | null;
};

/** A token and all that decides its validity, read in one round trip; `now` is the database's clock. */
export type TokenWithUser = {
  readonly hash: Buffer;
  readonly token: ApiToken;
  readonly user: User;
  readonly now: Date;
  readonly requestsPerMinute: number;
  readonly limits: UseLimits;
};

export interface TokenRepository {
  insert(token: NewToken): Promise<ApiToken>;
  /** Live ones, and all. Exact while the user's row is locked. */
  count(userId: string): Promise<{ readonly live: number; readonly stored: number }>;
  /** Newest first, in any state. */
  listOwned(userId: string): Promise<readonly ApiToken[]>;
  /** The existing ones of these hashes, in any state. */
  findWithUser(hashes: readonly Buffer[]): Promise<readonly TokenWithUser[]>;
  findAllByIdWithUser(ids: readonly string[]): Promise<readonly TokenWithUser[]>;
  /** null when it is not the user's. The first revocation counts; `changed`: it was this one. */
  revoke(id: string, userId: string): Promise<{ readonly token: ApiToken; readonly changed: boolean } | null>;
  /** Returns the deleted row; null when it is not the user's. */
  delete(id: string, userId: string): Promise<ApiToken | null>;
  /** Sets last_used_at, never to an earlier time. */
  touch(uses: readonly Use[]): Promise<void>;
}
