import type { DomainError } from '../../../domain/errors.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { locksItselfInMs, seenEveryMs, sessionLocked } from '../../../domain/identity/screen-lock.ts';
import { isTokenShaped } from '../../../domain/identity/token.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { Present } from './authorized-connections.ts';
import { joined } from './batched-lookup.ts';
import { type InvalidatedCache, invalidatedCache } from './credential-cache.ts';
import { subscribeToCredentialChanges } from './credential-changes.ts';
import { type Touches, touches } from './last-used-writer.ts';
import { sha256Hex } from './secrets.ts';
import {
  type Accepted,
  type Authenticated,
  acceptSession,
  acceptToken,
  asLocked,
  concerns,
} from './verified-credential.ts';

const WRITE_USES_EVERY_MS = 60_000;

/** At once when nobody has to be asked; a promise costs a turn that most requests can do without. */
export type Soon<T> = T | Promise<T>;

export type AuthenticatorDeps = {
  readonly storage: Storage;
  readonly bus: Bus;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
};

export type Authenticator = ReturnType<typeof authenticator>;

/**
 * From a proven credential to the caller that it stands for now. The database has the last word: it is asked in one
 * round trip, or was asked within the last second and nobody has told of a change since.
 */
export function authenticator({ storage: { repositories }, bus, monotonicMs }: AuthenticatorDeps) {
  let databaseAheadMs = 0;
  const nowMs = (): number => monotonicMs() + databaseAheadMs;
  const use = { everyMs: WRITE_USES_EVERY_MS, nowMs };
  const seen = touches({ ...use, write: (uses) => repositories.sessions.touch(uses) });
  const used = touches({ ...use, write: (uses) => repositories.tokens.touch(uses) });

  function cache<Row>(
    read: (keys: readonly string[]) => Promise<readonly Row[]>,
    keyOf: (row: Row) => string,
    accept: (row: Row) => Accepted | null,
  ): InvalidatedCache<Accepted> {
    const find = joined(async (keys) => new Map((await read(keys)).map((row) => [keyOf(row), row])));
    return invalidatedCache({
      find: async (key) => {
        const accepted = mapped(await find(key), accept);
        if (accepted !== null) databaseAheadMs = accepted.readAt.getTime() - monotonicMs();
        return accepted;
      },
      lifeMs: ({ endsAt, readAt }) =>
        endsAt === null ? Number.POSITIVE_INFINITY : endsAt.getTime() - readAt.getTime(),
      hears: () => bus.connected,
      monotonicMs,
    });
  }

  const sessions = cache(
    (ids) => repositories.sessions.findAllWithUser(ids),
    ({ session }) => session.id,
    acceptSession,
  );
  const tokens = cache(
    (hashes) => repositories.tokens.findWithUser(hashes.map((hash) => Buffer.from(hash, 'hex'))),
    ({ hash }) => hash.toString('hex'),
    acceptToken,
  );
  const sessionNow = joined(async (ids) => {
    const rows = await repositories.sessions.findAllWithUser(ids);
    return new Map(rows.map((row) => [row.session.id, row]));
  });
  const tokenNow = joined(async (ids) => {
    const rows = await repositories.tokens.findAllByIdWithUser(ids);
    return new Map(rows.map((row) => [row.token.id, row]));
  });
  subscribeToCredentialChanges(bus, (changed) => {
    sessions.forget((accepted) => concerns(accepted, changed));
    tokens.forget((accepted) => concerns(accepted, changed));
  });

  const lastSeen = ({ id, lastUsedMs }: Accepted): Date =>
    new Date(Math.max(lastUsedMs ?? 0, seen.lastMs(id) ?? 0));

  const isScreenLocked = (accepted: Accepted): boolean =>
    accepted.lock?.passcodeSet === true &&
    sessionLocked(accepted.lock, lastSeen(accepted), new Date(nowMs()));

  function holdsForMs(accepted: Accepted): number {
    const { lock, endsAt, readAt, caller } = accepted;
    const ends = [endsAt, caller.user.guestUntil].filter((at) => at !== null);
    const locksMs = lock === null ? [] : [locksItselfInMs(lock, lastSeen(accepted), new Date(nowMs()))];
    return Math.min(...ends.map((at) => at.getTime() - readAt.getTime()), ...locksMs);
  }

  // What a locked session is still allowed is no use of it, or asking would open an idle one again.
  const unlessLocked = (accepted: Accepted): Soon<Result<Authenticated, DomainError>> =>
    isScreenLocked(accepted) ? ok(asLocked(accepted)) : noted(accepted, seen);

  const judgeToken = (accepted: Accepted | null): Soon<Result<Authenticated, DomainError>> =>
    accepted === null ? REJECTED : noted(accepted, used);

  return {
    /** The claims come from a login token whose signature and time hold. */
    bySession(sessionId: string, userId: string): Soon<Result<Authenticated, DomainError>> {
      const judge = (accepted: Accepted | null) =>
        accepted?.caller.user.id === userId ? unlessLocked(accepted) : UNAUTHORIZED;
      const kept = sessions.peek(sessionId);
      return kept === null ? sessions.find(sessionId).then(judge) : judge(kept);
    },

    /** Whatever is wrong with it, the refusal is the same. What cannot be a token is refused without a question. */
    byApiToken(secret: string): Soon<Result<Authenticated, DomainError>> {
      const hash = sha256Hex(secret);
      const kept = tokens.peek(hash);
      if (kept !== null) return judgeToken(kept);
      return isTokenShaped(secret) ? tokens.find(hash).then(judgeToken) : REJECTED;
    },

    /** As the other two, for what a page asks by itself: it keeps no session from its end or its lock. */
    async withoutUse(credential: { readonly sessionId: string; readonly userId: string } | string) {
      const accepted = await (typeof credential === 'string'
        ? isTokenShaped(credential)
          ? tokens.find(sha256Hex(credential))
          : null
        : sessions.find(credential.sessionId));
      if (accepted === null) return null;
      if (typeof credential !== 'string' && accepted.caller.user.id !== credential.userId) return null;
      return isScreenLocked(accepted) ? null : accepted.caller;
    },

    /**
     * What has become of a caller whose request is long past, as behind a socket; null when its credential opens nothing
     * any more. Asks the database, once for all that ask in one turn; counts as a use only where it is one.
     */
    async current({ user, credential }: Caller, isUse: boolean): Promise<Present | null> {
      const byLogin = credential.kind === 'login';
      const accepted = byLogin
        ? mapped(await sessionNow(credential.sessionId), acceptSession)
        : mapped(await tokenNow(credential.tokenId), acceptToken);
      if (accepted?.caller.user.id !== user.id) return null;
      if (isScreenLocked(accepted)) return { caller: asLocked(accepted).caller, holdsForMs: 0 };
      if (isUse) await noted(accepted, byLogin ? seen : used);
      return { caller: accepted.caller, holdsForMs: holdsForMs(accepted) };
    },

    /** Uses that are not written yet, for lists that must not be stale; null when the database knows all. */
    pendingUse: (tokenId: string): Date | null => used.pending(tokenId),
    pendingSeen: (sessionId: string): Date | null => seen.pending(sessionId),

    /** Writes the last uses that are due; for a timer. */
    flush: async (): Promise<void> => void (await Promise.all([seen.flush(), used.flush()])),
    /** Writes all of them; for the end of the process. */
    flushAll: async (): Promise<void> => void (await Promise.all([seen.flushAll(), used.flushAll()])),
  };
}

const mapped = <A, B>(value: A | null, to: (value: A) => B | null): B | null =>
  value === null ? null : to(value);

const UNAUTHORIZED = refuse({ code: 'unauthorized' } as const);
const REJECTED = refuse({ code: 'api_token_rejected' } as const);

function noted(accepted: Accepted, uses: Touches): Soon<Result<Authenticated, DomainError>> {
  const { id, lastUsedMs, lock } = accepted;
  const withinMs = lock === null ? WRITE_USES_EVERY_MS : seenEveryMs(lock, WRITE_USES_EVERY_MS);
  const first = uses.used(id, lastUsedMs, withinMs);
  return first === undefined ? ok(accepted) : first.then(() => ok(accepted));
}
