import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import { accountEndReason, isDisabled } from '../../../domain/identity/people/account-end.ts';
import {
  decideRefresh,
  REVOKED_FOR,
  sessionEnd,
  signedInLately,
  type UserSession,
} from '../../../domain/identity/session.ts';
import type { User } from '../../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { NewSession } from '../../../ports/identity/session-repository.ts';
import type { UserWithPassword } from '../../../ports/identity/user-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256, successorOf } from '../auth/secrets.ts';
import type { Hashing } from '../limits/hashing-queue.ts';
import { beginPendingSignIn, type PendingSignIn } from './pending-sign-in.ts';

/** An opened or renewed session, with the only copy of its next refresh token. */
export type SignedIn = { readonly session: UserSession; readonly user: User; readonly refreshToken: string };

export type SignInDeps = {
  readonly storage: Storage;
  readonly hashing: Hashing;
  readonly throttle: LoginThrottle;
  /** Keys for deriving refresh tokens; the first for new ones. */
  readonly refreshKeys: () => readonly Buffer[];
};

/**
 * In the caller's transaction. `provider`: the provider's session that opens it. `signedInAt`: when the user proved who
 * it is, if not now; null when unknown. `barredUntil`: until when it may not change how its user signs in.
 */
export async function openSession(
  repositories: Repositories,
  user: User,
  origin: RequestOrigin,
  provider: ProviderSession | null = null,
  { signedInAt, barredUntil }: Pick<NewSession, 'signedInAt' | 'barredUntil'> = {},
): Promise<SignedIn> {
  const session = await repositories.sessions.insert({ userId: user.id, ...origin, signedInAt, barredUntil });
  if (provider !== null) await repositories.providerSessions.insert(session.id, provider);
  const refreshToken = newSecret();
  await repositories.refreshTokens.insert(sha256(refreshToken), session.id);
  await repositories.audit.append({ userId: user.id, action: 'login', ...origin, details: session.id });
  return { session, user, refreshToken };
}

/**
 * The session of a user whom a provider knew already, possibly without a question. It opens locked if that was not
 * lately and the user has a passcode, which an unattended browser must not get around.
 */
export async function openProvenBefore(
  tx: Repositories,
  user: User,
  origin: RequestOrigin,
  provider: ProviderSession,
  signedInAt: Date | null,
): Promise<SignedIn> {
  const opened = await openSession(tx, user, origin, provider, { signedInAt });
  const { session } = opened;
  const { passcodeSet } = await tx.screenLocks.protectionOf(user.id);
  if (passcodeSet && !signedInLately(session, session.createdAt)) {
    await tx.screenLocks.lockSession(session.id);
  }
  return opened;
}

export type SignIn = ReturnType<typeof signIn>;

export const signIn = (deps: SignInDeps) => ({
  /**
   * `typed` is an email or username, in any form of the same letters. All failures have the same refusal and
   * duration; only the right password learns that the account is disabled, and why. With a second factor, the right
   * password alone opens nothing.
   */
  login: (typed: string, password: string, origin: RequestOrigin) => login(deps, typed, password, origin),

  /**
   * Rotates a refresh token. A used one that returns late or from elsewhere ends its session. The holder of an ended
   * session's token learns why; an unknown token is only refused.
   */
  refresh: (presented: string, origin: RequestOrigin) => refresh(deps, presented, origin),

  logout: (caller: Caller, origin: RequestOrigin) => logout(deps, caller, origin),
});

async function login(
  { storage, hashing, throttle }: SignInDeps,
  typed: string,
  password: string,
  origin: RequestOrigin,
): AsyncResult<SignedIn | PendingSignIn> {
  const { users } = storage.repositories;
  const name = comparable(typed);
  const found = (await users.findForLogin(typed)) ?? (name === typed ? null : await users.findForLogin(name));
  const attempt = { login: name, userId: found?.user.id ?? null, origin, by: 'password' } as const;
  const checked = await hashing.inTurn(
    { ipAddress: origin.ipAddress },
    () => throttle.refused(attempt),
    (hasher) => hasher.verify(found?.passwordHash ?? null, password),
  );
  if (!checked.ok) return checked;
  return await storage.inTransaction(async (tx) => {
    const person = checked.value ? await stillTheSame(tx, found) : null;
    const begun = await throttle.begin(tx, attempt);
    if (!begun.ok) return begun;
    if (person === null) return refuse(await begun.value.failed());
    const { user } = person;
    if (isDisabled(user, person.now)) {
      const refusal = await begun.value.failed('disabled');
      return refuse(refusal.code === 'rate_limited' ? refusal : accountDisabled(person));
    }
    await begun.value.passed();
    return ok((await beginPendingSignIn(tx, user)) ?? (await openSession(tx, user, origin)));
  });
}

const refresh = async (deps: SignInDeps, presented: string, origin: RequestOrigin): AsyncResult<SignedIn> =>
  await deps.storage.inTransaction(async (tx) => {
    const token = await tx.refreshTokens.lock(sha256(presented));
    const found = token && (await tx.sessions.findWithUser(token.sessionId));
    if (token === null || found === null) return refuse({ code: 'unauthorized' });
    const { session, user, now, idleMinutes } = found;
    const ended = isDisabled(user, now) ? REVOKED_FOR.userDisabled : sessionEnd(session, now, idleMinutes);
    if (ended !== null) return refuse({ code: 'unauthorized', ended });
    switch (decideRefresh(token, clientOf(origin), token.now)) {
      case 'repeat':
        return given(session, user, await newest(deps, tx, presented));
      case 'rotate':
        return ok({ session, user, refreshToken: await rotate(deps, tx, presented, session, origin) });
      case 'reused':
        await endSession(tx, session, REVOKED_FOR.refreshTokenReused, origin);
        return refuse({ code: 'unauthorized', ended: REVOKED_FOR.refreshTokenReused });
    }
  });

async function rotate(
  deps: SignInDeps,
  tx: Repositories,
  presented: string,
  session: UserSession,
  origin: RequestOrigin,
): Promise<string> {
  const [refreshToken = ''] = successors(deps, presented);
  await tx.refreshTokens.spend(sha256(presented), clientOf(origin));
  await tx.refreshTokens.insert(sha256(refreshToken), session.id);
  return refreshToken;
}

async function logout(
  { storage }: SignInDeps,
  { credential, user }: Caller,
  origin: RequestOrigin,
): Promise<void> {
  if (credential.kind !== 'login') return;
  await storage.inTransaction(async (tx) => {
    if (!(await tx.sessions.revoke(credential.sessionId, user.id, REVOKED_FOR.loggedOut))) return;
    const details = credential.sessionId;
    await tx.audit.append({ userId: user.id, action: 'logged_out', ...origin, details });
  });
}

/** By each key, since it may have been rotated after the token was used. */
const successors = ({ refreshKeys }: SignInDeps, token: string): readonly string[] =>
  refreshKeys().map((key) => successorOf(token, key));

/**
 * The end of the chain after a used token: a client that repeats an old refresh may have used its successor since, in
 * another tab, and must not get a used one.
 */
async function newest(deps: SignInDeps, tx: Repositories, spent: string): Promise<string | null> {
  for (const token of successors(deps, spent)) {
    const locked = await tx.refreshTokens.lock(sha256(token));
    if (locked !== null) return locked.spentAt === null ? token : await newest(deps, tx, token);
  }
  return null;
}

const given = (
  session: UserSession,
  user: User,
  refreshToken: string | null,
): Result<SignedIn, DomainError> =>
  refreshToken === null ? refuse({ code: 'unauthorized' }) : ok({ session, user, refreshToken });

/** Identifies a client: a repeat from another address or program is treated as theft. */
const clientOf = ({ ipAddress, userAgent }: RequestOrigin): string => `${ipAddress} ${userAgent}`;

/** What the owner of a disabled account may read. */
export const accountDisabled = ({ user, disabledReason }: UserWithPassword): DomainError => ({
  code: 'account_disabled',
  reason:
    disabledReason ??
    (user.endsAt !== null && user.disabledAt === null ? accountEndReason(user.endsAt) : null),
});

/** The user, unless the password changed during its check. */
async function stillTheSame(
  tx: Repositories,
  found: UserWithPassword | null,
): Promise<UserWithPassword | null> {
  const locked = found && (await tx.users.lockForSignIn(found.user.id));
  return locked === null || locked.passwordHash !== found?.passwordHash ? null : locked;
}

/** Ends a session for a reason of the service, in the caller's transaction. */
export async function endSession(
  tx: Repositories,
  session: Pick<UserSession, 'id' | 'userId'>,
  reason: string,
  origin: RequestOrigin,
): Promise<void> {
  const { id, userId } = session;
  await tx.sessions.revoke(id, userId, reason);
  await tx.audit.append({ userId, action: 'session_revoked', ...origin, details: id });
}
