import type { Caller } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import { seenEveryMs, sessionLocked } from '../domain/lock.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import { sessionState } from '../domain/session.ts';
import type { Storage } from '../ports/repositories.ts';
import { touches } from './touches.ts';

const SEEN_EVERY_MS = 60_000;

export type Authenticator = ReturnType<typeof authenticator>;

/** From a proven credential to the caller that it stands for now. The database has the last word. */
export function authenticator({ repositories }: Storage) {
  const seen = touches((ids, at) => repositories.sessions.touch(ids, at), SEEN_EVERY_MS);

  return {
    /**
     * One round trip. The claims come from a login token whose signature and time hold. `isUse` false: looks without
     * keeping the session alive.
     */
    async bySession(sessionId: string, userId: string, isUse = true): Promise<Result<Caller, DomainError>> {
      const found = await repositories.sessions.findWithUser(sessionId);
      if (found === null || found.user.id !== userId || found.user.disabledAt !== null) {
        return refuse({ code: 'unauthorized' });
      }
      const { session, user, now, idleMinutes, lock } = found;
      if (sessionState(session, now, idleMinutes) !== 'active') return refuse({ code: 'unauthorized' });
      const locked = sessionLocked(lock, session.lastSeenAt, now);
      // What a locked session is still allowed is no use of it, or asking would open an idle one again.
      if (isUse && !locked) seen.used(sessionId, session.lastSeenAt, now, seenEveryMs(lock, SEEN_EVERY_MS));
      return ok({ user, credential: { kind: 'login', sessionId, locked } });
    },

    /** Writes the last uses that are still in memory. */
    flush: () => seen.flush(),
  };
}
