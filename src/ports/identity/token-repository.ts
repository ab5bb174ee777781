import type { ApiToken, TokenLimits } from '../../domain/identity/token.ts';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';
import type { Use } from './session-repository.ts';

export type NewToken = Pick<ApiToken, 'userId' | 'name' | 'prefix' | 'scopes'> &
  TokenLimits & {
    /** SHA-256 of the secret. */
    readonly hash: Buffer;
    /** From now by the database's clock; null: for ever. */
    readonly lifeMs: number | null;
    /** Its end, if that is earlier; null: no such end. */
    readonly notAfter: Date | null;
  };

/** A token, and its descendants that ended with it. */
export type EndedTokens = { readonly token: ApiToken; readonly descendants: readonly ApiToken[] };

/** A token and all that decides its validity, read in one round trip; `now` is the database's clock. */
export type TokenWithUser = {
  readonly hash: Buffer;
  readonly token: ApiToken;
  readonly user: User;
  readonly now: Date;
  readonly requestsPerMinute: number;
  readonly limits: UseLimits;
};

export interface TokenUses {
  /** Takes one use of a counted token, once however many ask at the same time. Returns those left; null without one. */
  take(id: string): Promise<number | null>;
  /** Sets last_used_at, never to an earlier time. */
  touch(uses: readonly Use[]): Promise<void>;
}

export type TokenRepository = TokenRecords & TokenUses;

export interface TokenRecords {
  insert(token: NewToken): Promise<ApiToken>;
  /** Live ones (used-up ones are not), and all. Exact while the user's row is locked. */
  count(userId: string): Promise<{ readonly live: number; readonly stored: number }>;
  /** Newest first, in any state. */
  listOwned(userId: string): Promise<readonly ApiToken[]>;
  /** The existing ones of these hashes, in any state. */
  findWithUser(hashes: readonly Buffer[]): Promise<readonly TokenWithUser[]>;
  findAllByIdWithUser(ids: readonly string[]): Promise<readonly TokenWithUser[]>;
  /**
   * Revokes it and its descendants. null when it is not the user's. The first revocation counts; `changed`: it was this
   * one. Complete while the user's row is locked: no child can be made meanwhile.
   */
  revoke(id: string, userId: string): Promise<(EndedTokens & { readonly changed: boolean }) | null>;
  /** Deletes the row, and revokes its descendants. null when it is not the user's. */
  delete(id: string, userId: string): Promise<EndedTokens | null>;
  /**
   * Deletes the user's ended tokens with a token above them, but for the `keep` that ended last. A used-up one, whose last
   * request may still run, stays for a day after its last use. Returns how many.
   */
  forgetEndedChildren(userId: string, keep: number): Promise<number>;
  /** Revokes all of the user's. */
  revokeAll(userId: string): Promise<void>;
}
