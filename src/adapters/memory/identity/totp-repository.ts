import type { Clock } from '../../../ports/clock.ts';
import type { TotpRepository } from '../../../ports/identity/totp-repository.ts';
import type { FactorState } from './totp-state.ts';

export const memoryFactors = (state: FactorState, clock: Clock): TotpRepository => ({
  async totp(userId) {
    const found = state.totp.get(userId);
    return found === undefined ? null : { ...found, sealedSecret: Buffer.from(found.sealedSecret, 'hex') };
  },

  async putPendingTotp(userId, sealedSecret) {
    if (state.totp.get(userId)?.confirmedAt) return false;
    state.totp.set(userId, { sealedSecret: sealedSecret.toString('hex'), confirmedAt: null, lastStep: 0 });
    return true;
  },

  async confirmTotp(userId, sealedSecret, step) {
    const found = state.totp.get(userId);
    if (found?.sealedSecret !== sealedSecret.toString('hex') || found.confirmedAt !== null) return false;
    state.totp.set(userId, { ...found, confirmedAt: clock.now(), lastStep: step });
    return true;
  },

  async acceptStep(userId, step) {
    const found = state.totp.get(userId);
    if (found === undefined || found.confirmedAt === null || found.lastStep >= step) return false;
    state.totp.set(userId, { ...found, lastStep: step });
    return true;
  },

  async removeTotp(userId) {
    if (!state.totp.get(userId)?.confirmedAt) return false;
    state.totp.delete(userId);
    return true;
  },

  allSecrets: async () =>
    [...state.totp].map(([userId, { sealedSecret }]) => ({
      userId,
      sealedSecret: Buffer.from(sealedSecret, 'hex'),
    })),

  async replaceSecret(userId, from, to) {
    const found = state.totp.get(userId);
    if (found?.sealedSecret !== from.toString('hex')) return;
    state.totp.set(userId, { ...found, sealedSecret: to.toString('hex') });
  },
});
