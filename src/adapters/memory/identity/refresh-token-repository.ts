import type { Clock } from '../../../ports/clock.ts';
import type { RefreshTokenRepository } from '../../../ports/identity/refresh-token-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export const memoryRefreshTokens = (state: MemoryState, clock: Clock): RefreshTokenRepository => ({
  async insert(hash, sessionId) {
    state.refreshTokens.set(hash.toString('hex'), { sessionId, spentAt: null, spentBy: null });
  },

  async lock(hash) {
    const found = state.refreshTokens.get(hash.toString('hex'));
    return found === undefined ? null : { ...found, now: clock.now() };
  },

  async spend(hash, client) {
    const key = hash.toString('hex');
    const found = state.refreshTokens.get(key);
    if (found) state.refreshTokens.set(key, { ...found, spentAt: clock.now(), spentBy: client });
  },
});
