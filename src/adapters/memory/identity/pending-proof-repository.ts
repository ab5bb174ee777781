import type { Clock } from '../../../ports/clock.ts';
import type {
  PendingProofRepository,
  PendingPurpose,
} from '../../../ports/identity/pending-proof-repository.ts';
import { fromStoredSession, toStoredSession } from './openid/openid-state.ts';
import type { FactorState } from './totp-state.ts';

export function memoryPending(state: FactorState, clock: Clock): PendingProofRepository {
  const find = (hash: Buffer, purpose: PendingPurpose) => {
    const found = state.pending.get(hash.toString('hex'));
    return found?.purpose === purpose && found.expiresAt > clock.now() ? found : null;
  };

  return {
    async insert(hash, purpose, userId, lifeMinutes, provider = null) {
      const expiresAt = new Date(clock.now().getTime() + lifeMinutes * 60_000);
      const stored = provider && toStoredSession(provider);
      state.pending.set(hash.toString('hex'), { purpose, userId, expiresAt, tries: 0, provider: stored });
      return expiresAt;
    },

    find: async (hash, purpose) => find(hash, purpose),

    async lock(hash, purpose) {
      const found = find(hash, purpose);
      return found && { tries: found.tries, provider: found.provider && fromStoredSession(found.provider) };
    },

    async countTry(hash) {
      const key = hash.toString('hex');
      const found = state.pending.get(key);
      if (found) state.pending.set(key, { ...found, tries: found.tries + 1 });
    },

    async spend(hash, purpose) {
      const found = find(hash, purpose);
      if (found !== null) state.pending.delete(hash.toString('hex'));
      return found;
    },

    async endAll(userId, purpose) {
      for (const [key, one] of state.pending) {
        if (one.userId === userId && one.purpose === purpose) state.pending.delete(key);
      }
    },
  };
}
