import { randomUUID } from 'node:crypto';
import { type ApiToken, tokenState } from '../../../domain/identity/token.ts';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { TokenRepository, TokenWithUser } from '../../../ports/identity/token-repository.ts';
import { type MemoryState, useLimitsOf } from '../memory-state.ts';
import { withoutPassword } from './user-repository.ts';

type Stored = MemoryState['apiTokens'][number];

const withoutHash = ({ hash: _, ...token }: Stored): ApiToken => token;

export function memoryTokens(state: MemoryState, clock: Clock): TokenRepository {
  const ownedBy = (userId: string) => state.apiTokens.filter((token) => token.userId === userId);
  const findOwned = (id: string, userId: string) => ownedBy(userId).find((token) => token.id === id);
  const replace = (changed: Stored): void => {
    state.apiTokens = state.apiTokens.map((token) => (token.id === changed.id ? changed : token));
  };
  const withUser = (stored: Stored): TokenWithUser[] => {
    const user = state.users.find((one) => one.id === stored.userId);
    if (user === undefined) return [];
    const { requestsPerMinute } = { ...DEFAULT_SETTINGS, ...state.settings };
    const found = {
      token: withoutHash(stored),
      user: withoutPassword(user),
      now: clock.now(),
      requestsPerMinute,
      limits: useLimitsOf(state, user),
    };
    return [{ ...found, hash: Buffer.from(stored.hash, 'hex') }];
  };

  return {
    async insert({ hash, lifeMs, ...token }) {
      const createdAt = clock.now();
      const expiresAt = lifeMs === null ? null : new Date(createdAt.getTime() + lifeMs);
      const unused = { id: randomUUID(), createdAt, expiresAt, lastUsedAt: null, revokedAt: null };
      const stored: Stored = { ...token, ...unused, hash: hash.toString('hex') };
      state.apiTokens.push(stored);
      return withoutHash(stored);
    },

    async count(userId) {
      const stored = ownedBy(userId);
      const live = stored.filter((token) => tokenState(token, clock.now()) === 'active');
      return { live: live.length, stored: stored.length };
    },

    listOwned: async (userId) => ownedBy(userId).reverse().map(withoutHash),

    async findWithUser(hashes) {
      const wanted = new Set(hashes.map((hash) => hash.toString('hex')));
      return state.apiTokens.filter((token) => wanted.has(token.hash)).flatMap(withUser);
    },

    findAllByIdWithUser: async (ids) =>
      state.apiTokens.filter((token) => ids.includes(token.id)).flatMap(withUser),

    async revoke(id, userId) {
      const found = findOwned(id, userId);
      if (found === undefined) return null;
      if (found.revokedAt !== null) return { token: withoutHash(found), changed: false };
      const changed = { ...found, revokedAt: clock.now() };
      replace(changed);
      return { token: withoutHash(changed), changed: true };
    },

    async delete(id, userId) {
      const found = findOwned(id, userId);
      if (found === undefined) return null;
      state.apiTokens = state.apiTokens.filter((token) => token.id !== id);
      return withoutHash(found);
    },

    async touch(uses) {
      for (const { id, at } of uses) {
        const found = state.apiTokens.find((token) => token.id === id);
        if (found && (found.lastUsedAt === null || found.lastUsedAt < at))
          replace({ ...found, lastUsedAt: at });
      }
    },
  };
}
