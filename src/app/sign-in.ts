import type { Caller, Origin } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import { decideRefresh, sessionState, type UserSession } from '../domain/session.ts';
import type { User } from '../domain/user.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Repositories, Storage } from '../ports/repositories.ts';
import { newSecret, sha256, successorOf } from './secrets.ts';

/** A session that was opened or renewed, with the only copy of its next refresh token. */
export type SignedIn = { readonly session: UserSession; readonly user: User; readonly refreshToken: string };

export type SignInDeps = {
  readonly storage: Storage;
  readonly hasher: PasswordHasher;
  /** Keys that successors of refresh tokens are derived with; the first one for new ones. */
  readonly refreshKeys: () => readonly Buffer[];
};

/** Opens a session inside a transaction of the caller's. */
export async function openSession(repositories: Repositories, user: User, origin: Origin): Promise<SignedIn> {
  const session = await repositories.sessions.insert({ userId: user.id, ...origin });
  const refreshToken = newSecret();
  await repositories.sessions.insertRefreshToken(sha256(refreshToken), session.id);
  await repositories.audit.append({ userId: user.id, action: 'login', ...origin, details: session.id });
  return { session, user, refreshToken };
}

export type SignIn = ReturnType<typeof signIn>;

export function signIn({ storage, hasher, refreshKeys }: SignInDeps) {
  const { repositories, inTransaction } = storage;

  return {
    /** `login` is an email or a username. Whatever is wrong, the refusal and the time it takes are the same. */
    async login(login: string, password: string, origin: Origin): Promise<Result<SignedIn, DomainError>> {
      const found = await repositories.users.findForLogin(login);
      const matches = await hasher.verify(found?.passwordHash ?? null, password);
      if (found === null || !matches || found.user.disabledAt !== null) {
        const userId = found?.user.id ?? null;
        await repositories.audit.append({ userId, action: 'login_failed', ...origin, details: '' });
        return refuse({ code: 'login_failed' });
      }
      return ok(await inTransaction((tx) => openSession(tx, found.user, origin)));
    },

    /** Rotates a refresh token. A spent one that comes back from elsewhere, or late, ends its session. */
    async refresh(presented: string, origin: Origin): Promise<Result<SignedIn, DomainError>> {
      return await inTransaction(async (tx) => {
        const token = await tx.sessions.lockRefreshToken(sha256(presented));
        const found = token && (await tx.sessions.findWithUser(token.sessionId));
        if (token === null || found === null || found.user.disabledAt !== null)
          return refuse({ code: 'unauthorized' });
        const { session, user, now, idleMinutes } = found;
        if (sessionState(session, now, idleMinutes) !== 'active') return refuse({ code: 'unauthorized' });
        const [refreshToken = '', ...older] = refreshKeys().map((key) => successorOf(presented, key));
        switch (decideRefresh(token, origin.userAgent, token.now)) {
          case 'repeat':
            return given(session, user, await issued(tx, [refreshToken, ...older]));
          case 'rotate':
            await tx.sessions.spendRefreshToken(sha256(presented), origin.userAgent);
            await tx.sessions.insertRefreshToken(sha256(refreshToken), session.id);
            return ok({ session, user, refreshToken });
          case 'reused':
            await endSession(tx, session, 'refresh_token_reused', origin);
            return refuse({ code: 'unauthorized' });
        }
      });
    },

    async logout(caller: Caller, origin: Origin): Promise<void> {
      const { credential, user } = caller;
      if (credential.kind !== 'login') return;
      await inTransaction(async (tx) => {
        if (!(await tx.sessions.revoke(credential.sessionId, user.id, 'logged_out'))) return;
        const details = credential.sessionId;
        await tx.audit.append({ userId: user.id, action: 'logged_out', ...origin, details });
      });
    },
  };
}

const given = (
  session: UserSession,
  user: User,
  refreshToken: string | null,
): Result<SignedIn, DomainError> =>
  refreshToken === null ? refuse({ code: 'unauthorized' }) : ok({ session, user, refreshToken });

/** The one of these tokens that was given out: the key may have been rotated since. */
async function issued(tx: Repositories, candidates: readonly string[]): Promise<string | null> {
  for (const token of candidates) {
    if ((await tx.sessions.lockRefreshToken(sha256(token))) !== null) return token;
  }
  return null;
}

async function endSession(
  tx: Repositories,
  session: UserSession,
  reason: string,
  origin: Origin,
): Promise<void> {
  await tx.sessions.revoke(session.id, session.userId, reason);
  await tx.audit.append({
    userId: session.userId,
    action: 'session_revoked',
    ...origin,
    details: session.id,
  });
}
