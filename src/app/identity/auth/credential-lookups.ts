import type { Bus } from '../../../ports/bus.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { joined } from './batched-lookup.ts';
import { type InvalidatedCache, invalidatedCache } from './credential-cache.ts';
import { subscribeToCredentialChanges } from './credential-changes.ts';
import type { DatabaseClock } from './database-clock.ts';
import { type Accepted, acceptSession, acceptToken, concerns } from './verified-credential.ts';

type Find = (key: string) => Promise<Accepted | null>;

type LookupDeps = {
  readonly repositories: Repositories;
  readonly bus: Bus;
  readonly clock: DatabaseClock;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
};

export type CredentialLookups = {
  /** Sessions by id, as read within the last second. */
  readonly sessions: InvalidatedCache<Accepted>;
  /** API tokens by the digest of their secret, as read within the last second. */
  readonly tokens: InvalidatedCache<Accepted>;
  /** A session by its id, as the database has it now. */
  readonly sessionNow: Find;
  /** An API token by its id, as the database has it now. */
  readonly tokenNow: Find;
};

/** Reads credentials from the database: those of one turn of the event loop in one round trip. */
export function credentialLookups(deps: LookupDeps): CredentialLookups {
  const { repositories, bus } = deps;
  const sessionNow = batched(
    (ids) => repositories.sessions.findAllWithUser(ids),
    ({ session }) => session.id,
    acceptSession,
  );
  const tokenByHash = batched(
    (hashes) => repositories.tokens.findWithUser(hashes.map((hash) => Buffer.from(hash, 'hex'))),
    ({ hash }) => hash.toString('hex'),
    acceptToken,
  );
  const tokenNow = batched(
    (ids) => repositories.tokens.findAllByIdWithUser(ids),
    ({ token }) => token.id,
    acceptToken,
  );
  const sessions = cached(deps, sessionNow);
  const tokens = cached(deps, tokenByHash);
  subscribeToCredentialChanges(bus, (changed) => {
    sessions.forget((accepted) => concerns(accepted, changed));
    tokens.forget((accepted) => concerns(accepted, changed));
  });
  return { sessions, tokens, sessionNow, tokenNow };
}

function batched<Row>(
  read: (keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  accept: (row: Row) => Accepted | null,
): Find {
  const find = joined(async (keys) => new Map((await read(keys)).map((row) => [keyOf(row), row])));
  return async (key) => {
    const row = await find(key);
    return row === null ? null : accept(row);
  };
}

function cached({ bus, clock, monotonicMs }: LookupDeps, find: Find): InvalidatedCache<Accepted> {
  return invalidatedCache({
    find: async (key) => {
      const accepted = await find(key);
      if (accepted !== null) clock.adjust(accepted.readAt);
      return accepted;
    },
    lifeMs: ({ endsAt, readAt }) =>
      endsAt === null ? Number.POSITIVE_INFINITY : endsAt.getTime() - readAt.getTime(),
    hears: () => bus.connected,
    monotonicMs,
  });
}
