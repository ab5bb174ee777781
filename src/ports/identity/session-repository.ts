import type { LockFacts } from '../../domain/identity/screen-lock.ts';
import type { RefreshToken, UserSession } from '../../domain/identity/session.ts';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';

/** When something was used last. */
export type Use = { readonly id: string; readonly at: Date };

export type NewSession = { readonly userId: string; readonly ipAddress: string; readonly userAgent: string };

/** A session with all that decides whether it holds, read in one round trip; `now` is the database's clock. */
export type SessionWithUser = {
  readonly session: UserSession;
  readonly user: User;
  readonly now: Date;
  readonly idleMinutes: number;
  readonly lock: LockFacts;
  readonly requestsPerMinute: number;
  /** Of the user's tier. */
  readonly limits: UseLimits;
};

/** With what decides which of them are active; `now` is the database's clock. */
export type OwnedSessions = {
  readonly sessions: readonly UserSession[];
  readonly now: Date;
  readonly idleMinutes: number;
};

export interface SessionRepository {
  /** Lives for `SESSION_LIFE_DAYS` at most. */
  insert(session: NewSession): Promise<UserSession>;
  findWithUser(id: string): Promise<SessionWithUser | null>;
  /** Those of these ids that exist, whatever their state. */
  findAllWithUser(ids: readonly string[]): Promise<readonly SessionWithUser[]>;
  /** Sets last_seen_at, which never goes back. */
  touch(uses: readonly Use[]): Promise<void>;
  /** Newest first, at most 1,000: those whose absolute life is not over, and those revoked lately. */
  listOwned(userId: string): Promise<OwnedSessions>;
  /** False when it is not the user's, or revoked already. */
  revoke(id: string, userId: string, reason: string): Promise<boolean>;
  /** Revokes all of the user's but one; their ids. */
  revokeOthers(userId: string, keepId: string | null, reason: string): Promise<readonly string[]>;
  /** Whether the user has signed in from that address group, as far as sessions are kept. */
  seenAt(userId: string, ipAddress: string): Promise<boolean>;
  insertRefreshToken(hash: Buffer, sessionId: string): Promise<void>;
  /** Locks the token until the transaction ends. */
  lockRefreshToken(hash: Buffer): Promise<(RefreshToken & { readonly now: Date }) | null>;
  spendRefreshToken(hash: Buffer, client: string): Promise<void>;
}
