import type { LockFacts } from '../../domain/identity/screen-lock.ts';
import type { UserSession } from '../../domain/identity/session.ts';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';

/** A last use. */
export type Use = { readonly id: string; readonly at: Date };

export type NewSession = {
  readonly userId: string;
  readonly ipAddress: string;
  readonly userAgent: string;
  /** Absent: now, which is also the latest. */
  readonly signedInAt?: Date | null | undefined;
  readonly barredUntil?: Date | null | undefined;
};

/** A session and all that decides its validity, read in one round trip; `now` is the database's clock. */
export type SessionWithUser = {
  readonly session: UserSession;
  readonly user: User;
  readonly now: Date;
  readonly idleMinutes: number;
  readonly lock: LockFacts;
  readonly requestsPerMinute: number;
  readonly limits: UseLimits;
};

/** With what decides their state; `now` is the database's clock. */
export type OwnedSessions = {
  readonly sessions: readonly UserSession[];
  readonly now: Date;
  readonly idleMinutes: number;
};

export interface SessionRepository {
  /** Lives for at most `SESSION_LIFE_DAYS`. */
  insert(session: NewSession): Promise<UserSession>;
  findWithUser(id: string): Promise<SessionWithUser | null>;
  /** The existing ones of these ids, in any state. */
  findAllWithUser(ids: readonly string[]): Promise<readonly SessionWithUser[]>;
  /** Sets last_seen_at, never to an earlier time. */
  touch(uses: readonly Use[]): Promise<void>;
  /** Newest first, at most 1,000: sessions within their absolute life, and recently revoked ones. */
  listOwned(userId: string): Promise<OwnedSessions>;
  /** False when it is not the user's, or already revoked. */
  revoke(id: string, userId: string, reason: string): Promise<boolean>;
  /** Revokes all of the user's but one; returns their ids. */
  revokeOthers(userId: string, keepId: string | null, reason: string): Promise<readonly string[]>;
  /** Records that the user has confirmed now who it is. */
  confirm(id: string): Promise<void>;
  /** Whether a kept session of the user came from that address group. */
  seenAt(userId: string, ipAddress: string): Promise<boolean>;
}
