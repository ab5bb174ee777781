import { batchedLookup } from '../../../concurrency/batch.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { type InvalidatedCache, invalidatedCache } from './credential-cache.ts';
import { subscribeToCredentialChanges } from './credential-changes.ts';
import type { DatabaseClock } from './database-clock.ts';
import {
  concerns,
  isCounted,
  type VerifiedCredential,
  verifySession,
  verifySshKey,
  verifyToken,
  verifyTokenAgain,
} from './verified-credential.ts';

type Find = (key: string) => Promise<VerifiedCredential | null>;

type LookupDeps = {
  readonly repositories: Repositories;
  readonly bus: Bus;
  readonly clock: DatabaseClock;
  readonly monotonicMs: () => number;
};

export type CredentialLookups = {
  /** By id, read within the last second. */
  readonly sessions: InvalidatedCache<VerifiedCredential>;
  /** By the digest of their secret, read within the last second; counted ones now. */
  readonly tokens: InvalidatedCache<VerifiedCredential>;
  /** Uncached, by id. */
  readonly sessionNow: Find;
  /** Uncached, by id. */
  readonly tokenNow: Find;
  /** Uncached, by id. */
  readonly sshKeyNow: Find;
};

/** Reads credentials from the database: one round trip per event loop turn. */
export function credentialLookups(deps: LookupDeps): CredentialLookups {
  const { repositories, bus } = deps;
  const sessionNow = lookup(
    (ids) => repositories.sessions.findAllWithUser(ids),
    ({ session }) => session.id,
    verifySession,
  );
  const tokenByHash = lookup(
    (hashes) => repositories.tokens.findWithUser(hashes.map((hash) => Buffer.from(hash, 'hex'))),
    ({ hash }) => hash.toString('hex'),
    verifyToken,
  );
  const tokenNow = lookup(
    (ids) => repositories.tokens.findAllByIdWithUser(ids),
    ({ token }) => token.id,
    verifyTokenAgain,
  );
  const sshKeyNow = lookup(
    (ids) => repositories.sshKeys.findAllByIdWithUser(ids),
    ({ key }) => key.id,
    verifySshKey,
  );
  const sessions = cached(deps, sessionNow);
  const tokens = cached(deps, tokenByHash);
  subscribeToCredentialChanges(bus, (changed) => {
    sessions.forget((accepted) => concerns(accepted, changed));
    tokens.forget((accepted) => concerns(accepted, changed));
  });
  return { sessions, tokens, sessionNow, tokenNow, sshKeyNow };
}

function lookup<Row>(
  read: (keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  accept: (row: Row) => VerifiedCredential | null,
): Find {
  const find = batchedLookup(async (keys) => new Map((await read(keys)).map((row) => [keyOf(row), row])));
  return async (key) => {
    const row = await find(key);
    return row === null ? null : accept(row);
  };
}

const cached = ({ bus, clock, monotonicMs }: LookupDeps, find: Find): InvalidatedCache<VerifiedCredential> =>
  invalidatedCache({
    find: async (key) => {
      const accepted = await find(key);
      if (accepted !== null) clock.adjust(accepted.readAt);
      return accepted;
    },
    lifeMs: (accepted) => {
      const { endsAt, readAt } = accepted;
      if (isCounted(accepted)) return 0;
      return endsAt === null ? Number.POSITIVE_INFINITY : endsAt.getTime() - readAt.getTime();
    },
    isBusConnected: () => bus.connected,
    monotonicMs,
  });
