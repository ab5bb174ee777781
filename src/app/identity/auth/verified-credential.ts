import type { Caller } from '../../../domain/identity/caller.ts';
import type { LockFacts } from '../../../domain/identity/screen-lock.ts';
import { sessionEndsAt, sessionState } from '../../../domain/identity/session.ts';
import { tokenAccepted } from '../../../domain/identity/token.ts';
import type { UseLimits } from '../../../domain/identity/use-limits.ts';
import type { SessionWithUser } from '../../../ports/identity/session-repository.ts';
import type { TokenWithUser } from '../../../ports/identity/token-repository.ts';
import type { CredentialChange } from './credential-changes.ts';

/** The caller that a credential stands for now, and how much it may ask for. */
export type Authenticated = {
  readonly caller: Caller;
  /** Of this credential; 0 for no limit. */
  readonly requestsPerMinute: number;
  /** Of the user, over all credentials. */
  readonly limits: UseLimits;
};

/** A credential that was good when it was read; `id` is the session's or the token's. */
export type VerifiedCredential = Authenticated & {
  readonly id: string;
  readonly lastUsedMs: number | null;
  /** null for a token, which has no screen. */
  readonly lock: LockFacts | null;
  readonly endsAt: Date | null;
  readonly readAt: Date;
};

/** The same, its screen locked. */
export function asLocked({ id, caller, requestsPerMinute, limits }: VerifiedCredential): Authenticated {
  const credential = { kind: 'login', sessionId: id, locked: true } as const;
  return { caller: { ...caller, credential }, requestsPerMinute, limits };
}

/** null for a session that opens nothing any more. */
export function verifySession({
  session,
  user,
  now,
  idleMinutes,
  requestsPerMinute,
  limits,
  lock,
}: SessionWithUser): VerifiedCredential | null {
  if (user.disabledAt !== null || sessionState(session, now, idleMinutes) !== 'active') return null;
  const { id } = session;
  return {
    id,
    caller: { user, credential: { kind: 'login', sessionId: id, locked: false } },
    requestsPerMinute,
    limits: limitsWith(requestsPerMinute, limits),
    lastUsedMs: session.lastSeenAt.getTime(),
    lock,
    endsAt: sessionEndsAt(session, idleMinutes),
    readAt: now,
  };
}

/** null for a token that opens nothing any more. */
export function verifyToken({
  token,
  user,
  now,
  requestsPerMinute,
  limits,
}: TokenWithUser): VerifiedCredential | null {
  if (!tokenAccepted(token, user, now)) return null;
  const { id, prefix, scopes } = token;
  return {
    id,
    caller: { user, credential: { kind: 'api_token', tokenId: id, prefix, scopes } },
    requestsPerMinute,
    limits: limitsWith(requestsPerMinute, limits),
    lastUsedMs: token.lastUsedAt?.getTime() ?? null,
    lock: null,
    endsAt: token.expiresAt,
    readAt: now,
  };
}

/** Where the setting counts no requests, they are not counted by user either. */
const limitsWith = (requestsPerMinute: number, limits: UseLimits): UseLimits =>
  requestsPerMinute === 0 ? { ...limits, requestsPerMinute: 0 } : limits;

/** Whether the change may make this one wrong; null is any change at all. */
export const concerns = ({ id, caller }: VerifiedCredential, changed: CredentialChange | null): boolean =>
  changed === null || (changed.kind === 'user' ? caller.user.id : id) === changed.id;
