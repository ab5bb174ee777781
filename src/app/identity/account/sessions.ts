import { type Caller, isBarred, type RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  isServiceReason,
  REVOKED_BY_USER,
  REVOKED_OTHER_SESSIONS,
  sessionListed,
  type UserSession,
} from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { withLockedCaller } from './lock-caller.ts';

export type SessionDeps = {
  readonly storage: Storage;
  /** The last use not yet written. */
  readonly pendingSeen: (sessionId: string) => Date | null;
};

export type ListedSession = UserSession & { readonly isCurrent: boolean };

const NOT_OWN_REASON = {
  code: 'validation_failed',
  fields: { reason: "must not be one of the service's own" },
} as const;

export type Sessions = ReturnType<typeof sessions>;

/** The caller's own sessions; another user's looks unknown. */
export function sessions({ storage: { repositories, inTransaction }, pendingSeen }: SessionDeps) {
  return {
    /** Active and recently revoked ones, newest first. */
    async list({ user, credential }: Caller): Promise<readonly ListedSession[]> {
      const current = credential.kind === 'login' ? credential.sessionId : null;
      const { sessions: owned, now, idleMinutes } = await repositories.sessions.listOwned(user.id);
      return owned
        .map((session) => seenAt(session, pendingSeen(session.id)))
        .filter((session) => sessionListed(session, now, idleMinutes))
        .map((session) => ({ ...session, isCurrent: session.id === current }));
    },

    /** Unknown, another's and already revoked ones are the same refusal. Unused enrolment codes end with it. */
    async revoke(
      id: string,
      reason: string | undefined,
      caller: Caller,
      origin: RequestOrigin,
    ): AsyncResult<null> {
      if (isServiceReason(reason)) return refuse(NOT_OWN_REASON);
      if (!isUuid(id)) return refuse({ code: 'session_not_found' });
      const sessionId = id.toLowerCase();
      const { user, credential } = caller;
      const isOwn = credential.kind === 'login' && credential.sessionId === sessionId;
      if (isBarred(caller) && !isOwn) return refuse({ code: 'new_password_required' });
      return await withLockedCaller(inTransaction, caller, async (tx) => {
        const done = await tx.sessions.revoke(sessionId, user.id, reason || REVOKED_BY_USER);
        if (!done) return refuse({ code: 'session_not_found' });
        await recordEnd(tx, 'session_revoked', caller, origin, sessionId);
        return ok(null);
      });
    },

    /** Revokes all but the caller's. Returns how many were active; expired ones and unused enrolment codes end too. */
    async revokeOthers(
      reason: string | undefined,
      caller: Caller,
      origin: RequestOrigin,
    ): AsyncResult<number> {
      if (isServiceReason(reason)) return refuse(NOT_OWN_REASON);
      const { user, credential } = caller;
      if (credential.kind !== 'login') throw new Error('only a session has others');
      const { sessionId } = credential;
      return await withLockedCaller(inTransaction, caller, async (tx) => {
        const ids = await tx.sessions.revokeOthers(user.id, sessionId, reason || REVOKED_OTHER_SESSIONS);
        const ended = new Set(ids);
        const { sessions: owned, now, idleMinutes } = await tx.sessions.listOwned(user.id);
        const active = owned
          .filter(({ id }) => ended.has(id))
          .filter((one) => sessionListed(one, now, idleMinutes));
        await recordEnd(tx, 'sessions_revoked_others', caller, origin, sessionId);
        return ok(active.length);
      });
    },
  };
}

const seenAt = (session: UserSession, pending: Date | null): UserSession =>
  pending !== null && pending > session.lastSeenAt ? { ...session, lastSeenAt: pending } : session;

/** Ends the unused enrolment codes too. */
async function recordEnd(
  tx: Repositories,
  action: 'session_revoked' | 'sessions_revoked_others',
  { user }: Caller,
  origin: RequestOrigin,
  sessionId: string,
): Promise<void> {
  await tx.agentEnrolments.endAll(user.id);
  await tx.audit.append({ userId: user.id, action, ...origin, details: sessionId });
}
