import { type Caller, credentialId, isBarred } from '../../../domain/identity/caller.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import type { LockFacts } from '../../../domain/identity/screen-lock.ts';
import { isBarredAt, sessionEndsAt, sessionState } from '../../../domain/identity/session.ts';
import { SSH_KEY_SCOPES } from '../../../domain/identity/ssh-key.ts';
import { tokenAccepted, tokenStillGood } from '../../../domain/identity/token.ts';
import type { UseLimits } from '../../../domain/identity/use-limits.ts';
import type { SessionWithUser } from '../../../ports/identity/session-repository.ts';
import type { SshKeyWithUser } from '../../../ports/identity/ssh-key-repository.ts';
import type { TokenWithUser } from '../../../ports/identity/token-repository.ts';
import type { CredentialChange } from './credential-changes.ts';

export type Authenticated = {
  readonly caller: Caller;
  /** 0 for no limit. */
  readonly requestsPerMinute: number;
  /** Of the user, whatever the credential. */
  readonly limits: UseLimits;
};

/**
 * What the requests of a user are counted under: those of sign-ins apart from those of tokens and keys, so that whoever
 * has one of these cannot delay its end.
 */
export const countedAs = ({ user, credential }: Caller): string =>
  credential.kind === 'login' ? `user ${user.id}` : `tokens of ${user.id}`;

/** What a request counts against: its credential and its user. */
export const ratesOf = ({ caller, requestsPerMinute, limits }: Authenticated) => [
  { key: credentialId(caller.credential), perMinute: requestsPerMinute },
  { key: countedAs(caller), perMinute: limits.requestsPerMinute },
];

/** A credential that was valid when read; `id` is the session's, the token's or the SSH key's. */
export type VerifiedCredential = Authenticated & {
  readonly id: string;
  readonly lastUsedMs: number | null;
  /** null for a token or SSH key, which has no screen. */
  readonly lock: LockFacts | null;
  readonly endsAt: Date | null;
  readonly readAt: Date;
};

export function asLocked({ id, caller, requestsPerMinute, limits }: VerifiedCredential): Authenticated {
  const credential = { kind: 'login', sessionId: id, locked: true, barred: isBarred(caller) } as const;
  return { caller: { ...caller, credential }, requestsPerMinute, limits };
}

/** null for an ended session. */
export function verifySession({
  session,
  user,
  now,
  idleMinutes,
  requestsPerMinute,
  limits,
  lock,
}: SessionWithUser): VerifiedCredential | null {
  if (isDisabled(user, now) || sessionState(session, now, idleMinutes) !== 'active') return null;
  const { id } = session;
  return {
    id,
    caller: {
      user,
      credential: { kind: 'login', sessionId: id, locked: false, barred: isBarredAt(session, now) },
    },
    requestsPerMinute,
    limits: limitsWith(requestsPerMinute, limits),
    lastUsedMs: session.lastSeenAt.getTime(),
    lock,
    endsAt: earlier(sessionEndsAt(session, idleMinutes), user.endsAt),
    readAt: now,
  };
}

/** For a new request; null for an ended token. */
export const verifyToken = (row: TokenWithUser): VerifiedCredential | null =>
  tokenAccepted(row.token, row.user, row.now) ? verified(row) : null;

/** For a request that has begun: its own use may have been the token's last. */
export const verifyTokenAgain = (row: TokenWithUser): VerifiedCredential | null =>
  tokenStillGood(row.token, row.user, row.now) ? verified(row) : null;

function verified({ token, user, now, requestsPerMinute, limits }: TokenWithUser): VerifiedCredential {
  const { id, prefix, name, scopes, containers, usesLeft } = token;
  return {
    id,
    caller: {
      user,
      credential: { kind: 'api_token', tokenId: id, prefix, name, scopes, containers, usesLeft },
    },
    requestsPerMinute,
    limits: limitsWith(requestsPerMinute, limits),
    lastUsedMs: token.lastUsedAt?.getTime() ?? null,
    lock: null,
    endsAt: earlier(token.expiresAt, user.endsAt),
    readAt: now,
  };
}

/** Whether each request must take one of the token's uses. */
export const isCounted = ({ caller: { credential } }: VerifiedCredential): boolean =>
  credential.kind === 'api_token' && credential.usesLeft !== null;

export const withUsesLeft = (accepted: VerifiedCredential, usesLeft: number): VerifiedCredential => {
  const { user, credential } = accepted.caller;
  if (credential.kind !== 'api_token') return accepted;
  return { ...accepted, caller: { user, credential: { ...credential, usesLeft } } };
};

/** null for a disabled user's key. */
export function verifySshKey({
  key,
  user,
  now,
  requestsPerMinute,
  limits,
}: SshKeyWithUser): VerifiedCredential | null {
  if (isDisabled(user, now)) return null;
  const { id, fingerprint, lastUsedAt } = key;
  return {
    id,
    caller: { user, credential: { kind: 'ssh_key', keyId: id, fingerprint, scopes: SSH_KEY_SCOPES } },
    requestsPerMinute,
    limits: limitsWith(requestsPerMinute, limits),
    lastUsedMs: lastUsedAt?.getTime() ?? null,
    lock: null,
    endsAt: user.endsAt,
    readAt: now,
  };
}

const earlier = (a: Date | null, b: Date | null): Date | null => {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
};

/** A setting of 0 turns off the user's request count too. */
const limitsWith = (requestsPerMinute: number, limits: UseLimits): UseLimits =>
  requestsPerMinute === 0 ? { ...limits, requestsPerMinute: 0 } : limits;

/** Whether the change may affect this one; null: any change. */
export const concerns = ({ id, caller }: VerifiedCredential, changed: CredentialChange | null): boolean =>
  changed === null || (changed.kind === 'user' ? caller.user.id : id) === changed.id;
