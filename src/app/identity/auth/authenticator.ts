import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, Credential } from '../../../domain/identity/caller.ts';
import { locksItselfInMs, seenEveryMs, sessionLocked } from '../../../domain/identity/screen-lock.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { Present } from './authorized-connections.ts';
import { type CredentialLookups, credentialLookups } from './credential-lookups.ts';
import { type DatabaseClock, databaseClock } from './database-clock.ts';
import { type LastUsedWriter, lastUsedWriter } from './last-used-writer.ts';
import type { PresentedToken } from './presented-token.ts';
import {
  type Authenticated,
  asLocked,
  isCounted,
  type VerifiedCredential,
  withUsesLeft,
} from './verified-credential.ts';

const WRITE_USES_EVERY_MS = 60_000;

/** Synchronous without a query; a promise would cost a turn that most requests do not need. */
export type MaybePromise<T> = T | Promise<T>;

export type AuthenticatorDeps = {
  readonly storage: Storage;
  readonly bus: Bus;
  readonly monotonicMs: () => number;
};

export type Authenticator = ReturnType<typeof authenticator>;

type Verification = {
  readonly lookups: CredentialLookups;
  readonly clock: DatabaseClock;
  readonly seen: LastUsedWriter;
  readonly used: LastUsedWriter;
  /** Takes one use of a counted token; null without one. */
  readonly take: (tokenId: string) => Promise<number | null>;
  readonly keysUsed: LastUsedWriter;
};

type SessionClaims = { readonly sessionId: string; readonly userId: string };

/**
 * Turns a verified credential into its present caller. The database decides, in one round trip or by a result of the
 * last second without an announced change.
 */
export function authenticator({ storage: { repositories }, bus, monotonicMs }: AuthenticatorDeps) {
  const clock = databaseClock(monotonicMs);
  const use = { everyMs: WRITE_USES_EVERY_MS, nowMs: clock.nowMs };
  const seen = lastUsedWriter({ ...use, write: (uses) => repositories.sessions.touch(uses) });
  const used = lastUsedWriter({ ...use, write: (uses) => repositories.tokens.touch(uses) });
  const keysUsed = lastUsedWriter({ ...use, write: (uses) => repositories.sshKeys.touch(uses) });
  const lookups = credentialLookups({ repositories, bus, clock, monotonicMs });
  const take = (tokenId: string) => repositories.tokens.take(tokenId);
  const verification: Verification = { lookups, clock, seen, used, keysUsed, take };
  return {
    /** For the claims of a login token with valid signature and time. */
    bySession: (sessionId: string, userId: string) => bySession(verification, { sessionId, userId }),

    /** All failures are the same refusal. Impossible tokens need no query. */
    byApiToken: (token: PresentedToken) => byApiToken(verification, token),

    /** For an SSH key whose signature was verified. */
    bySshKey: async (id: string): Promise<Result<Authenticated, DomainError>> => {
      const accepted = await lookups.sshKeyNow(id);
      return accepted === null ? UNAUTHORIZED : await noted(accepted, keysUsed);
    },

    /** Like the first two, for a page's automatic requests: it does not delay a session's end or lock. */
    withoutUse: (credential: SessionClaims | PresentedToken) => withoutUse(verification, credential),

    /**
     * The present state of a caller admitted earlier, for example on a socket; null when its credential has ended. Asks
     * the database, once for all calls of one turn; with `isUse` it counts as a use.
     */
    current: (caller: Caller, isUse: boolean) => current(verification, caller, isUse),

    /** A use not yet written, for lists that must not be stale; null when the database has all. */
    pendingUse: (tokenId: string): Date | null => used.pending(tokenId),
    pendingKeyUse: (keyId: string): Date | null => keysUsed.pending(keyId),
    pendingSeen: (sessionId: string): Date | null => seen.pending(sessionId),

    /** Writes due last uses; for a timer. */
    flush: async (): Promise<void> =>
      void (await Promise.all([seen.flush(), used.flush(), keysUsed.flush()])),
    /** Writes all of them; for shutdown. */
    flushAll: async (): Promise<void> =>
      void (await Promise.all([seen.flushAll(), used.flushAll(), keysUsed.flushAll()])),
  };
}

function bySession(
  verification: Verification,
  { sessionId, userId }: SessionClaims,
): MaybePromise<Result<Authenticated, DomainError>> {
  const { sessions } = verification.lookups;
  const judge = (accepted: VerifiedCredential | null) =>
    accepted?.caller.user.id === userId ? unlessLocked(verification, accepted) : UNAUTHORIZED;
  const kept = sessions.peek(sessionId);
  return kept === null ? sessions.find(sessionId).then(judge) : judge(kept);
}

function byApiToken(
  verification: Verification,
  { digest, isShaped }: PresentedToken,
): MaybePromise<Result<Authenticated, DomainError>> {
  const { tokens } = verification.lookups;
  const judge = (accepted: VerifiedCredential | null) => {
    if (accepted === null) return REJECTED;
    return isCounted(accepted) ? takeUse(verification, accepted) : noted(accepted, verification.used);
  };
  const kept = tokens.peek(digest);
  if (kept !== null) return judge(kept);
  return isShaped ? tokens.find(digest).then(judge) : REJECTED;
}

/** The database counts, so that no two requests of any process get the same use. */
async function takeUse(
  { take, used }: Verification,
  accepted: VerifiedCredential,
): Promise<Result<Authenticated, DomainError>> {
  const usesLeft = await take(accepted.id);
  return usesLeft === null ? REJECTED : await noted(withUsesLeft(accepted, usesLeft), used);
}

async function withoutUse(
  verification: Verification,
  credential: SessionClaims | PresentedToken,
): Promise<Caller | null> {
  const { sessions, tokens } = verification.lookups;
  const isToken = 'digest' in credential;
  if (isToken && !credential.isShaped) return null;
  const accepted = await (isToken ? tokens.find(credential.digest) : sessions.find(credential.sessionId));
  if (accepted === null) return null;
  if (!isToken && accepted.caller.user.id !== credential.userId) return null;
  return isScreenLocked(verification, accepted) ? null : accepted.caller;
}

async function current(
  verification: Verification,
  { user, credential }: Caller,
  isUse: boolean,
): Promise<Present | null> {
  const accepted = await credentialNow(verification.lookups, credential);
  if (accepted?.caller.user.id !== user.id) return null;
  if (isScreenLocked(verification, accepted)) return { caller: asLocked(accepted).caller, holdsForMs: 0 };
  if (isUse) await noted(accepted, usesOf(verification, credential));
  return { caller: accepted.caller, holdsForMs: holdsForMs(verification, accepted) };
}

function credentialNow(
  { sessionNow, tokenNow, sshKeyNow }: CredentialLookups,
  credential: Credential,
): Promise<VerifiedCredential | null> {
  switch (credential.kind) {
    case 'login':
      return sessionNow(credential.sessionId);
    case 'api_token':
      return tokenNow(credential.tokenId);
    case 'ssh_key':
      return sshKeyNow(credential.keyId);
  }
}

function usesOf({ seen, used, keysUsed }: Verification, { kind }: Credential): LastUsedWriter {
  switch (kind) {
    case 'login':
      return seen;
    case 'api_token':
      return used;
    case 'ssh_key':
      return keysUsed;
  }
}

const lastSeen = ({ seen }: Verification, { id, lastUsedMs }: VerifiedCredential): Date =>
  new Date(Math.max(lastUsedMs ?? 0, seen.lastMs(id) ?? 0));

const isScreenLocked = (verification: Verification, accepted: VerifiedCredential): boolean =>
  accepted.lock?.passcodeSet === true &&
  sessionLocked(accepted.lock, lastSeen(verification, accepted), new Date(verification.clock.nowMs()));

function holdsForMs(verification: Verification, accepted: VerifiedCredential): number {
  const { lock, endsAt, readAt, caller } = accepted;
  const ends = [endsAt, caller.user.guestUntil].filter((at) => at !== null);
  const now = new Date(verification.clock.nowMs());
  const locksMs = lock === null ? [] : [locksItselfInMs(lock, lastSeen(verification, accepted), now)];
  return Math.min(...ends.map((at) => at.getTime() - readAt.getTime()), ...locksMs);
}

// What a locked session may do is no use, else it would unlock an idle one.
const unlessLocked = (
  verification: Verification,
  accepted: VerifiedCredential,
): MaybePromise<Result<Authenticated, DomainError>> =>
  isScreenLocked(verification, accepted) ? ok(asLocked(accepted)) : noted(accepted, verification.seen);

const UNAUTHORIZED = refuse({ code: 'unauthorized' } as const);
const REJECTED = refuse({ code: 'api_token_rejected' } as const);

function noted(
  accepted: VerifiedCredential,
  uses: LastUsedWriter,
): MaybePromise<Result<Authenticated, DomainError>> {
  const { id, lastUsedMs, lock } = accepted;
  const withinMs = lock === null ? WRITE_USES_EVERY_MS : seenEveryMs(lock, WRITE_USES_EVERY_MS);
  const first = uses.used(id, lastUsedMs, withinMs);
  return first === undefined ? ok(accepted) : first.then(() => ok(accepted));
}
