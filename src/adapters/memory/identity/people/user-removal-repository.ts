import type { Clock } from '../../../../ports/clock.ts';
import type { UserRemovalRepository } from '../../../../ports/identity/people/user-removal-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

export const memoryUserRemovals = (state: MemoryState, clock: Clock): UserRemovalRepository => ({
  async begin(removal) {
    if (!state.userRemovals.some(({ userId }) => userId === removal.userId)) state.userRemovals.push(removal);
  },
  find: async (id) => state.userRemovals.find(({ userId }) => userId === id) ?? null,
  transfersTo: async (id) =>
    state.userRemovals.some(({ plan }) => plan.kind === 'transfer' && plan.toUserId === id),
  list: async () => state.userRemovals,
  async finish(id) {
    const others = state.userRemovals.filter(({ userId }) => userId !== id);
    if (others.length === state.userRemovals.length) return false;
    state.userRemovals = others;
    const isOthers = ({ userId }: { readonly userId: string }): boolean => userId !== id;
    state.totp.delete(id);
    state.recoveryCodes.delete(id);
    state.passcodes.delete(id);
    state.passkeys = state.passkeys.filter(isOthers);
    state.identities = state.identities.filter(isOthers);
    state.sshKeys = state.sshKeys.filter(isOthers);
    state.recordings = state.recordings.filter(isOthers);
    state.users = state.users.map((user) =>
      user.id === id
        ? {
            ...user,
            email: null,
            passwordHash: null,
            role: 'user',
            disabledAt: user.disabledAt ?? clock.now(),
            deletedAt: clock.now(),
          }
        : user,
    );
    return true;
  },
});
