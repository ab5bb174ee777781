import { randomUUID } from 'node:crypto';
import type { SshKey } from '../../../domain/identity/ssh-key.ts';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { SshKeyRepository, SshKeyWithUser } from '../../../ports/identity/ssh-key-repository.ts';
import { type MemoryState, useLimitsOf } from '../memory-state.ts';
import { withoutPassword } from './user-repository.ts';

export function memorySshKeys(state: MemoryState, clock: Clock): SshKeyRepository {
  const ownedBy = (userId: string) => state.sshKeys.filter((key) => key.userId === userId);
  const withUser = (key: SshKey): SshKeyWithUser[] => {
    const user = state.users.find((one) => one.id === key.userId);
    if (user === undefined) return [];
    const { requestsPerMinute } = { ...DEFAULT_SETTINGS, ...state.settings };
    const limits = useLimitsOf(state, user);
    return [{ key, user: withoutPassword(user), now: clock.now(), requestsPerMinute, limits }];
  };
  return {
    async insert(key) {
      if (state.sshKeys.some(({ fingerprint }) => fingerprint === key.fingerprint)) return null;
      const made = { ...key, id: randomUUID(), createdAt: clock.now(), lastUsedAt: null };
      state.sshKeys.push(made);
      return made;
    },

    listOwned: async (userId) => ownedBy(userId).reverse(),

    count: async (userId) => ownedBy(userId).length,

    async findByFingerprint(fingerprint) {
      const found = state.sshKeys.find((key) => key.fingerprint === fingerprint);
      return (found && withUser(found)[0]) ?? null;
    },

    findAllByIdWithUser: async (ids) => state.sshKeys.filter(({ id }) => ids.includes(id)).flatMap(withUser),

    async remove(id, userId) {
      const found = ownedBy(userId).find((key) => key.id === id);
      state.sshKeys = state.sshKeys.filter((key) => key !== found);
      return found ?? null;
    },

    async touch(uses) {
      for (const { id, at } of uses)
        state.sshKeys = state.sshKeys.map((key) =>
          key.id === id && (key.lastUsedAt === null || key.lastUsedAt < at)
            ? { ...key, lastUsedAt: at }
            : key,
        );
    },
  };
}
