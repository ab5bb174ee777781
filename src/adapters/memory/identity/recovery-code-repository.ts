import type { RecoveryCodeRepository } from '../../../ports/identity/recovery-code-repository.ts';
import type { FactorState } from './totp-state.ts';

export const memoryRecoveryCodes = (state: FactorState): RecoveryCodeRepository => ({
  async replace(userId, hashes) {
    state.recoveryCodes.set(userId, new Map(hashes.map((hash) => [hash.toString('hex'), false])));
  },

  async spend(userId, hash) {
    const codes = state.recoveryCodes.get(userId);
    const key = hash.toString('hex');
    if (codes?.get(key) !== false) return false;
    codes.set(key, true);
    return true;
  },

  async left(userId) {
    const codes = state.recoveryCodes.get(userId) ?? new Map();
    return [...codes.values()].filter((used) => !used).length;
  },
});
