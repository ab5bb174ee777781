import type { Clock } from '../../../../ports/clock.ts';
import type { ProviderSessionRepository } from '../../../../ports/identity/openid/provider-session-repository.ts';
import type { MemoryState } from '../../memory-state.ts';
import { fromStoredSession, toStoredSession } from './openid-state.ts';
import { isOf } from './provider-sign-in-repository.ts';

export const memoryProviderSessions = (state: MemoryState, clock: Clock): ProviderSessionRepository => ({
  async insert(sessionId, session) {
    state.providerSessions.set(sessionId, toStoredSession(session));
  },

  async find(sessionId) {
    const found = state.providerSessions.get(sessionId);
    return found === undefined ? null : fromStoredSession(found);
  },

  listOf: async (whom) =>
    state.sessions
      .filter(({ id, revokedAt }) => revokedAt === null && isOf(state.providerSessions.get(id), whom))
      .map(({ id, userId }) => ({ id, userId })),

  async noteSignOut({ issuer, subject, sid }, lifeMinutes) {
    const at = clock.now();
    const expiresAt = new Date(at.getTime() + lifeMinutes * 60_000);
    const kept = state.providerSignOuts.filter((one) => one.expiresAt > at);
    state.providerSignOuts = [...kept, { issuer, subject, sid, at, expiresAt }];
  },

  wasSignedOut: async (whom, since) =>
    state.providerSignOuts.some((signOut) => signOut.at > since && isOf(whom, signOut)),

  async useLogoutToken(hash, lifeMinutes) {
    const now = clock.now();
    const key = hash.toString('hex');
    const end = state.usedLogoutTokens.get(key);
    if (end !== undefined && end > now) return false;
    state.usedLogoutTokens.set(key, new Date(now.getTime() + lifeMinutes * 60_000));
    return true;
  },
});
