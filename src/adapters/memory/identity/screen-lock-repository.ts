import type { Clock } from '../../../ports/clock.ts';
import type { ScreenLockRepository } from '../../../ports/identity/screen-lock-repository.ts';
import type { MemoryState } from '../memory-state.ts';

const OPEN = { lockedAt: null, wrong: 0 };

export function memoryScreenLocks(state: MemoryState, clock: Clock): ScreenLockRepository {
  const lockOf = (sessionId: string) => state.locks.get(sessionId) ?? OPEN;

  return {
    passcodeHash: async (userId) => state.passcodes.get(userId) ?? null,

    async setPasscode(userId, hash) {
      if (hash === null) state.passcodes.delete(userId);
      else state.passcodes.set(userId, hash);
    },

    protectionOf: async (userId) => ({
      passwordSet: state.users.some((one) => one.id === userId && one.passwordHash !== null),
      mfaEnabled: state.totp.get(userId)?.confirmedAt != null,
      passcodeSet: state.passcodes.has(userId),
      autoLockMinutes: state.autoLockMinutes.get(userId) ?? null,
    }),

    async setAutoLock(userId, minutes) {
      if (minutes === null) state.autoLockMinutes.delete(userId);
      else state.autoLockMinutes.set(userId, minutes);
    },

    async lockSession(sessionId) {
      const lock = lockOf(sessionId);
      state.locks.set(sessionId, { ...lock, lockedAt: lock.lockedAt ?? clock.now() });
    },

    async wrongPasscodes(sessionId) {
      const session = state.sessions.find(({ id }) => id === sessionId);
      return session === undefined || session.revokedAt !== null ? null : lockOf(sessionId).wrong;
    },

    async countWrongPasscode(sessionId) {
      const lock = lockOf(sessionId);
      state.locks.set(sessionId, { ...lock, wrong: lock.wrong + 1 });
    },

    async unlockSession(sessionId) {
      state.locks.delete(sessionId);
      const lastSeenAt = clock.now();
      state.sessions = state.sessions.map((one) => (one.id === sessionId ? { ...one, lastSeenAt } : one));
    },
  };
}
