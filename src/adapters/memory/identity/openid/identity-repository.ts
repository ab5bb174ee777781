import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../../ports/clock.ts';
import type { IdentityRepository } from '../../../../ports/identity/openid/identity-repository.ts';
import type { OpenIdState } from './openid-state.ts';

export function memoryIdentities(state: OpenIdState, clock: Clock): IdentityRepository {
  const find = (issuer: string, subject: string) =>
    state.identities.find((one) => one.issuer === issuer && one.subject === subject) ?? null;

  return {
    async insert(identity) {
      if (find(identity.issuer, identity.subject) !== null) return null;
      const made = { ...identity, id: randomUUID(), createdAt: clock.now(), lastUsedAt: null };
      state.identities.push(made);
      return made;
    },

    find: async (issuer, subject) => find(issuer, subject),

    listOf: async (userId) => state.identities.filter((one) => one.userId === userId),

    async used(id, email) {
      state.identities = state.identities.map((one) =>
        one.id === id ? { ...one, email, lastUsedAt: clock.now() } : one,
      );
    },

    async remove(id, userId) {
      const kept = state.identities.filter((one) => one.id !== id || one.userId !== userId);
      const removed = kept.length < state.identities.length;
      state.identities = kept;
      return removed;
    },
  };
}
