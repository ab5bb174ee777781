/**
 * Sign-in sessions. Facts are stored, the state is derived:
 *
 *   active --revoke--> revoked        active --idle or absolute life over--> expired
 */
export type UserSession = {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  /** End of the absolute life. */
  readonly expiresAt: Date;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly revokedAt: Date | null;
  readonly revokedReason: string | null;
};

export type SessionState = 'active' | 'revoked' | 'expired';

/** Longest life of a session, however busy. */
export const SESSION_LIFE_DAYS = 30;
/** Life of a login token; its session is consulted on each request all the same. */
export const LOGIN_TOKEN_MINUTES = 15;

/** `now` is the database's clock. */
export function sessionState(session: UserSession, now: Date, idleMinutes: number): SessionState {
  if (session.revokedAt !== null) return 'revoked';
  return sessionEndsAt(session, idleMinutes) <= now ? 'expired' : 'active';
}

/** When the session is over if it is not used again: its absolute life or its idleness, whichever comes first. */
export function sessionEndsAt({ expiresAt, lastSeenAt }: UserSession, idleMinutes: number): Date {
  return new Date(Math.min(expiresAt.getTime(), lastSeenAt.getTime() + idleMinutes * 60_000));
}

/** Revoked ones stay in their user's list for so long. */
export const REVOKED_LISTED_DAYS = 30;

/** Whether a session is in its user's list: it is active, or was until it was revoked lately. */
export function sessionListed(session: UserSession, now: Date, idleMinutes: number): boolean {
  const { revokedAt } = session;
  if (revokedAt === null) return sessionState(session, now, idleMinutes) === 'active';
  const lately = revokedAt.getTime() + REVOKED_LISTED_DAYS * 86_400_000 > now.getTime();
  return lately && sessionEndsAt(session, idleMinutes) > revokedAt;
}

/** For so long after signing in nobody has to show again that it is them. */
const LATELY_MINUTES = 15;

/** Whether whoever uses the session has signed in lately. Refreshing and unlocking are no sign-ins. */
export const signedInLately = ({ createdAt }: UserSession, now: Date): boolean =>
  now.getTime() - createdAt.getTime() < LATELY_MINUTES * 60_000;

/** What is recorded when nobody gives a reason. */
export const REVOKED_BY_USER = 'revoked_by_user';
export const REVOKED_OTHER_SESSIONS = 'revoked_other_sessions';

/** Reasons of the service's own. */
export const REVOKED_FOR = {
  loggedOut: 'logged_out',
  passwordChanged: 'password_changed',
  userDisabled: 'user_disabled',
  refreshTokenReused: 'refresh_token_reused',
  wrongPasscodes: 'too_many_wrong_passcodes',
} as const;

/** Why a session is over, as it is told to the client that was signed in by it. */
export type SessionEnd = ServiceReason | 'revoked' | 'expired';

const SERVICE_REASONS: ReadonlySet<string> = new Set(Object.values(REVOKED_FOR));

type ServiceReason = (typeof REVOKED_FOR)[keyof typeof REVOKED_FOR];

/** Whether the service alone may give that reason: the client that was signed in is told it. */
export const isServiceReason = (reason: string | null | undefined): reason is ServiceReason =>
  typeof reason === 'string' && SERVICE_REASONS.has(reason);

/** null while the session is active. A reason that a user typed for a revocation appears in the session list only. */
export function sessionEnd(session: UserSession, now: Date, idleMinutes: number): SessionEnd | null {
  const state = sessionState(session, now, idleMinutes);
  if (state !== 'revoked') return state === 'expired' ? 'expired' : null;
  const { revokedReason: reason } = session;
  return isServiceReason(reason) ? reason : 'revoked';
}

/** How long the client may repeat a refresh whose answer was lost and get the same successor. */
export const REFRESH_GRACE_SECONDS = 10;

export type RefreshToken = {
  readonly sessionId: string;
  readonly spentAt: Date | null;
  /** What the client that spent it looked like; only that one may repeat. */
  readonly spentBy: string | null;
};

export type RefreshDecision = 'rotate' | 'repeat' | 'reused';

/** First use rotates; a repeat by the same client within the grace gets the same successor; all else is theft. */
export function decideRefresh(token: RefreshToken, client: string, now: Date): RefreshDecision {
  if (token.spentAt === null) return 'rotate';
  const late = now.getTime() - token.spentAt.getTime() > REFRESH_GRACE_SECONDS * 1000;
  return late || token.spentBy !== client ? 'reused' : 'repeat';
}
