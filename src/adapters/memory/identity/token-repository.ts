import { randomUUID } from 'node:crypto';
import { type ApiToken, type TokenEnd, tokenState } from '../../../domain/identity/token.ts';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type { Clock } from '../../../ports/clock.ts';
import type {
  NewToken,
  TokenRecords,
  TokenRepository,
  TokenUses,
  TokenWithUser,
} from '../../../ports/identity/token-repository.ts';
import { type MemoryState, useLimitsOf } from '../memory-state.ts';
import { withoutPassword } from './user-repository.ts';

type Stored = MemoryState['apiTokens'][number];

const UNUSED = { lastUsedAt: null, revokedAt: null, revokedReason: null } as const;

const withoutHash = ({ hash: _, ...token }: Stored): ApiToken => token;

function withUser(state: MemoryState, stored: Stored, now: Date): TokenWithUser[] {
  const user = state.users.find((one) => one.id === stored.userId);
  if (user === undefined) return [];
  const { requestsPerMinute } = { ...DEFAULT_SETTINGS, ...state.settings };
  const found = {
    token: withoutHash(stored),
    user: withoutPassword(user),
    now,
    requestsPerMinute,
    limits: useLimitsOf(state, user),
  };
  return [{ ...found, hash: Buffer.from(stored.hash, 'hex') }];
}

function replace(state: MemoryState, changed: Stored): void {
  state.apiTokens = state.apiTokens.map((token) => (token.id === changed.id ? changed : token));
}

const descendantsOf = (state: MemoryState, id: string): readonly Stored[] =>
  state.apiTokens
    .filter((token) => token.parentId === id)
    .flatMap((child) => [child, ...descendantsOf(state, child.id)]);

/** Returns those that were not revoked before. */
const revokeDescendants = (
  state: MemoryState,
  id: string,
  { revokedAt, revokedReason }: { readonly revokedAt: Date; readonly revokedReason: TokenEnd },
): readonly ApiToken[] =>
  descendantsOf(state, id)
    .filter((token) => token.revokedAt === null)
    .map((token) => {
      const changed = { ...token, revokedAt, revokedReason };
      replace(state, changed);
      return withoutHash(changed);
    });

function madeAt(createdAt: Date, { hash, lifeMs, notAfter, ...token }: NewToken): Stored {
  const ends = [lifeMs === null ? null : new Date(createdAt.getTime() + lifeMs), notAfter];
  const [expiresAt = null] = ends.filter((end) => end !== null).sort((a, b) => a.getTime() - b.getTime());
  const unused = { id: randomUUID(), createdAt, expiresAt, ...UNUSED };
  return { ...token, ...unused, hash: hash.toString('hex') };
}

const DAY_MS = 86_400_000;

/** Whether it has ended, and with it the last request of a used-up one. */
function isOver(token: ApiToken, now: Date): boolean {
  const state = tokenState(token, now);
  if (state !== 'used_up') return state !== 'active';
  return token.lastUsedAt !== null && token.lastUsedAt.getTime() < now.getTime() - DAY_MS;
}

function endMs({ revokedAt, expiresAt, lastUsedAt, usesLeft }: ApiToken): number {
  if (revokedAt !== null) return revokedAt.getTime();
  const ends = [expiresAt, usesLeft === 0 ? lastUsedAt : null].filter((end) => end !== null);
  return Math.min(...ends.map((end) => end.getTime()));
}

const ownedBy = (state: MemoryState, userId: string): readonly Stored[] =>
  state.apiTokens.filter((token) => token.userId === userId);

const findOwned = (state: MemoryState, id: string, userId: string): Stored | undefined =>
  ownedBy(state, userId).find((token) => token.id === id);

export const memoryTokens = (state: MemoryState, clock: Clock): TokenRepository => ({
  ...tokenReads(state, clock),
  ...tokenChanges(state, clock),
  ...tokenUses(state),
});

const tokenReads = (
  state: MemoryState,
  clock: Clock,
): Pick<TokenRecords, 'count' | 'listOwned' | 'findWithUser' | 'findAllByIdWithUser'> => ({
  async count(userId) {
    const stored = ownedBy(state, userId);
    const live = stored.filter((token) => tokenState(token, clock.now()) === 'active');
    return { live: live.length, stored: stored.length };
  },

  listOwned: async (userId) => ownedBy(state, userId).toReversed().map(withoutHash),

  async findWithUser(hashes) {
    const wanted = new Set(hashes.map((hash) => hash.toString('hex')));
    return state.apiTokens
      .filter((token) => wanted.has(token.hash))
      .flatMap((token) => withUser(state, token, clock.now()));
  },

  findAllByIdWithUser: async (ids) =>
    state.apiTokens
      .filter((token) => ids.includes(token.id))
      .flatMap((token) => withUser(state, token, clock.now())),
});

const tokenChanges = (
  state: MemoryState,
  clock: Clock,
): Omit<TokenRecords, keyof ReturnType<typeof tokenReads>> => ({
  async insert(token) {
    const stored = madeAt(clock.now(), token);
    state.apiTokens.push(stored);
    return withoutHash(stored);
  },

  async revoke(id, userId) {
    const found = findOwned(state, id, userId);
    if (found === undefined) return null;
    if (found.revokedAt !== null) return { token: withoutHash(found), descendants: [], changed: false };
    const changed = { ...found, revokedAt: clock.now() };
    replace(state, changed);
    const descendants = revokeDescendants(state, id, {
      revokedAt: clock.now(),
      revokedReason: 'parent_revoked',
    });
    return { token: withoutHash(changed), descendants, changed: true };
  },

  async delete(id, userId) {
    const found = findOwned(state, id, userId);
    if (found === undefined) return null;
    const descendants = revokeDescendants(state, id, {
      revokedAt: clock.now(),
      revokedReason: 'parent_deleted',
    });
    state.apiTokens = state.apiTokens
      .filter((token) => token.id !== id)
      .map((token) => (token.parentId === id ? { ...token, parentId: null } : token));
    return { token: withoutHash(found), descendants };
  },

  async forgetEndedChildren(userId, keep) {
    const ended = ownedBy(state, userId)
      .filter((token) => token.depth > 0 && isOver(token, clock.now()))
      .sort((a, b) => endMs(b) - endMs(a));
    const forgotten = new Set(ended.slice(keep).map(({ id }) => id));
    state.apiTokens = state.apiTokens
      .filter(({ id }) => !forgotten.has(id))
      .map((token) => (forgotten.has(token.parentId ?? '') ? { ...token, parentId: null } : token));
    return forgotten.size;
  },

  async revokeAll(userId) {
    for (const token of ownedBy(state, userId))
      if (token.revokedAt === null) replace(state, { ...token, revokedAt: clock.now() });
  },
});

const tokenUses = (state: MemoryState): TokenUses => ({
  async take(id) {
    const found = state.apiTokens.find((token) => token.id === id);
    if (!found?.usesLeft || found.revokedAt !== null) return null;
    const usesLeft = found.usesLeft - 1;
    replace(state, { ...found, usesLeft });
    return usesLeft;
  },

  async touch(uses) {
    for (const { id, at } of uses) {
      const found = state.apiTokens.find((token) => token.id === id);
      if (found && (found.lastUsedAt === null || found.lastUsedAt < at))
        replace(state, { ...found, lastUsedAt: at });
    }
  },
});
