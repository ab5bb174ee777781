/**
 * Sign-in sessions. Times are stored, the state is derived:
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
  /** When the user proved who it is, to open the session; null when a provider did not say. */
  readonly signedInAt: Date | null;
  /** The user's last confirmation at a provider; null without any. */
  readonly confirmedAt: Date | null;
  /** Until then it may make or remove no way in; null: it may. */
  readonly barredUntil: Date | null;
};

export type SessionState = 'active' | 'revoked' | 'expired';

/** The longest life of a session in use. */
export const SESSION_LIFE_DAYS = 30;
/** Life of a login token, whose session is checked on each request anyway. */
export const LOGIN_TOKEN_MINUTES = 15;

/** `now` is the database's clock. */
export function sessionState(session: UserSession, now: Date, idleMinutes: number): SessionState {
  if (session.revokedAt !== null) return 'revoked';
  return sessionEndsAt(session, idleMinutes) <= now ? 'expired' : 'active';
}

/** The end of an unused session: by its absolute life or idle limit, whichever is earlier. */
export const sessionEndsAt = ({ expiresAt, lastSeenAt }: UserSession, idleMinutes: number): Date =>
  new Date(Math.min(expiresAt.getTime(), lastSeenAt.getTime() + idleMinutes * 60_000));

/** How long a revoked session stays in its user's list. */
export const REVOKED_LISTED_DAYS = 30;

/** Whether a session is in its user's list: active, or recently revoked while active. */
export function sessionListed(session: UserSession, now: Date, idleMinutes: number): boolean {
  const { revokedAt } = session;
  if (revokedAt === null) return sessionState(session, now, idleMinutes) === 'active';
  const lately = revokedAt.getTime() + REVOKED_LISTED_DAYS * 86_400_000 > now.getTime();
  return lately && sessionEndsAt(session, idleMinutes) > revokedAt;
}

/** After a reset its user looks through what can still sign in: meanwhile only the new password may add to that. */
const RESET_REVIEW_MINUTES = 60;

/** Until when a session that a passkey opens may change no way in; null for a passkey registered since the reset. */
export const barredAfterReset = (resetAt: Date | null, registeredAt: Date): Date | null =>
  resetAt === null || registeredAt > resetAt
    ? null
    : new Date(resetAt.getTime() + RESET_REVIEW_MINUTES * 60_000);

/** Whether such a session is barred now. */
export const isBarredAt = ({ barredUntil }: UserSession, now: Date): boolean =>
  barredUntil !== null && barredUntil > now;

/** After a sign-in no confirmation is needed for this long. */
const LATELY_MINUTES = 15;

/** Whether the session's sign-in, or its confirmation at a provider, is recent. Refreshing and unlocking are neither. */
export function signedInLately({ signedInAt, confirmedAt }: UserSession, now: Date): boolean {
  const last = confirmedAt ?? signedInAt;
  return last !== null && now.getTime() - last.getTime() < LATELY_MINUTES * 60_000;
}

/** The recorded reason when none is given. */
export const REVOKED_BY_USER = 'revoked_by_user';
export const REVOKED_OTHER_SESSIONS = 'revoked_other_sessions';

/** Reasons given by the service itself. */
export const REVOKED_FOR = {
  loggedOut: 'logged_out',
  passwordChanged: 'password_changed',
  userDisabled: 'user_disabled',
  refreshTokenReused: 'refresh_token_reused',
  wrongPasscodes: 'too_many_wrong_passcodes',
  accountReset: 'account_reset',
  providerSignedOut: 'provider_signed_out',
} as const;

/** Why a session ended, for its client. */
export type SessionEnd = ServiceReason | 'revoked' | 'expired';

const SERVICE_REASONS: ReadonlySet<string> = new Set(Object.values(REVOKED_FOR));

type ServiceReason = (typeof REVOKED_FOR)[keyof typeof REVOKED_FOR];

/** Whether the reason is reserved for the service, because clients receive it. */
export const isServiceReason = (reason: string | null | undefined): reason is ServiceReason =>
  typeof reason === 'string' && SERVICE_REASONS.has(reason);

/** null while the session is active. A user's own words for a revocation appear only in the session list. */
export function sessionEnd(session: UserSession, now: Date, idleMinutes: number): SessionEnd | null {
  const state = sessionState(session, now, idleMinutes);
  if (state !== 'revoked') return state === 'expired' ? 'expired' : null;
  const { revokedReason: reason } = session;
  return isServiceReason(reason) ? reason : 'revoked';
}

/** How long a client may repeat a refresh whose answer was lost and get the same successor. */
export const REFRESH_GRACE_SECONDS = 10;

export type RefreshToken = {
  readonly sessionId: string;
  readonly spentAt: Date | null;
  /** The client that used it; only that one may repeat. */
  readonly spentBy: string | null;
};

export type RefreshDecision = 'rotate' | 'repeat' | 'reused';

/**
 * First use rotates; a repeat by the same client within the grace period gets the same successor; all else is theft.
 */
export function decideRefresh(token: RefreshToken, client: string, now: Date): RefreshDecision {
  if (token.spentAt === null) return 'rotate';
  const late = now.getTime() - token.spentAt.getTime() > REFRESH_GRACE_SECONDS * 1000;
  return late || token.spentBy !== client ? 'reused' : 'repeat';
}
