import { randomUUID } from 'node:crypto';
import { counterHolds, type Passkey } from '../../../domain/identity/passkey.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { PasskeyRepository } from '../../../ports/identity/passkey-repository.ts';
import type { FactorState } from './totp-state.ts';

type Stored = FactorState['passkeys'][number];

export function memoryPasskeys(state: FactorState, clock: Clock): PasskeyRepository {
  const replace = (id: string, change: Partial<Stored>): Passkey | null => {
    state.passkeys = state.passkeys.map((one) => (one.id === id ? { ...one, ...change } : one));
    const found = state.passkeys.find((one) => one.id === id);
    return found === undefined ? null : toPasskey(found);
  };
  const owned = (id: string, userId: string): boolean =>
    state.passkeys.some((one) => one.id === id && one.userId === userId);

  return {
    async insert(passkey) {
      if (state.passkeys.some((one) => one.credentialId === passkey.credentialId)) return null;
      const made = { ...passkey, id: randomUUID(), createdAt: clock.now(), lastUsedAt: null };
      state.passkeys.push({ ...made, publicKey: passkey.publicKey.toString('hex') });
      return made;
    },

    listOf: async (userId) => state.passkeys.filter((one) => one.userId === userId).map(toPasskey),

    async findByCredential(credentialId) {
      const found = state.passkeys.find((one) => one.credentialId === credentialId);
      return found === undefined ? null : toPasskey(found);
    },

    async used(id, counter, backedUp) {
      const found = state.passkeys.find((one) => one.id === id);
      if (found === undefined || !counterHolds(found.counter, counter)) return false;
      replace(id, { counter, backedUp, lastUsedAt: clock.now() });
      return true;
    },

    rename: async (id, userId, name) => (owned(id, userId) ? replace(id, { name }) : null),

    async remove(id, userId) {
      const mine = owned(id, userId);
      if (mine) state.passkeys = state.passkeys.filter((one) => one.id !== id);
      return mine;
    },
  };
}

const toPasskey = (stored: Stored): Passkey => ({
  ...stored,
  publicKey: Buffer.from(stored.publicKey, 'hex'),
});
