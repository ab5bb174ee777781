import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../ports/clock.ts';
import type { SshKeyRepository } from '../../../ports/identity/ssh-key-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memorySshKeys(state: MemoryState, clock: Clock): SshKeyRepository {
  const ownedBy = (userId: string) => state.sshKeys.filter((key) => key.userId === userId);
  return {
    async insert(key) {
      if (ownedBy(key.userId).some(({ fingerprint }) => fingerprint === key.fingerprint)) return null;
      const made = { ...key, id: randomUUID(), createdAt: clock.now() };
      state.sshKeys.push(made);
      return made;
    },

    listOwned: async (userId) => ownedBy(userId).reverse(),

    count: async (userId) => ownedBy(userId).length,

    async remove(id, userId) {
      const found = ownedBy(userId).find((key) => key.id === id);
      state.sshKeys = state.sshKeys.filter((key) => key !== found);
      return found ?? null;
    },
  };
}
