import { randomUUID } from 'node:crypto';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import {
  REVOKED_LISTED_DAYS,
  SESSION_LIFE_DAYS,
  type UserSession,
} from '../../../domain/identity/session.ts';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type { Clock } from '../../../ports/clock.ts';
import type {
  NewSession,
  SessionRepository,
  SessionWithUser,
} from '../../../ports/identity/session-repository.ts';
import { type MemoryState, useLimitsOf } from '../memory-state.ts';
import { withoutPassword } from './user-repository.ts';

function replace(state: MemoryState, id: string, change: (session: UserSession) => UserSession): void {
  state.sessions = state.sessions.map((session) => (session.id === id ? change(session) : session));
}

function find(state: MemoryState, clock: Clock, id: string): SessionWithUser | null {
  const session = state.sessions.find((one) => one.id === id);
  const user = state.users.find((one) => one.id === session?.userId);
  if (session === undefined || user === undefined) return null;
  const { sessionIdleMinutes: idleMinutes, requestsPerMinute } = { ...DEFAULT_SETTINGS, ...state.settings };
  const lock = {
    lockedAt: state.locks.get(id)?.lockedAt ?? null,
    passcodeSet: state.passcodes.has(user.id),
    autoLockMinutes: state.autoLockMinutes.get(user.id) ?? null,
  };
  return {
    session,
    user: withoutPassword(user),
    now: clock.now(),
    idleMinutes,
    requestsPerMinute,
    lock,
    limits: useLimitsOf(state, user),
  };
}

const begun = ({ signedInAt, barredUntil = null, ...session }: NewSession, now: Date): UserSession => ({
  ...session,
  id: randomUUID(),
  createdAt: now,
  lastSeenAt: now,
  expiresAt: new Date(now.getTime() + SESSION_LIFE_DAYS * 86_400_000),
  revokedAt: null,
  revokedReason: null,
  confirmedAt: null,
  barredUntil,
  // The clock of a provider may be ahead.
  signedInAt: signedInAt === undefined || (signedInAt !== null && signedInAt > now) ? now : signedInAt,
});

export const memorySessions = (state: MemoryState, clock: Clock): SessionRepository => ({
  async insert(session) {
    const made = begun(session, clock.now());
    state.sessions.push(made);
    return made;
  },

  findWithUser: async (id) => find(state, clock, id),

  findAllWithUser: async (ids) => ids.map((id) => find(state, clock, id)).filter((found) => found !== null),

  async touch(uses) {
    for (const { id, at } of uses) {
      replace(state, id, (session) => (session.lastSeenAt < at ? { ...session, lastSeenAt: at } : session));
    }
  },

  async listOwned(userId) {
    const now = clock.now();
    const { sessionIdleMinutes: idleMinutes } = { ...DEFAULT_SETTINGS, ...state.settings };
    const sessions = state.sessions.filter((session) => session.userId === userId && isKept(session, now));
    return { sessions: sessions.reverse().slice(0, MAX_LISTED), now, idleMinutes };
  },

  async revokeOthers(userId, keepId, reason) {
    const others = state.sessions.filter(
      (session) => session.userId === userId && session.id !== keepId && session.revokedAt === null,
    );
    const revoked = { revokedAt: clock.now(), revokedReason: reason };
    for (const { id } of others) replace(state, id, (session) => ({ ...session, ...revoked }));
    return others.map(({ id }) => id);
  },

  async revoke(id, userId, reason) {
    const found = state.sessions.find((one) => one.id === id && one.userId === userId);
    if (found === undefined || found.revokedAt !== null) return false;
    replace(state, id, (session) => ({ ...session, revokedAt: clock.now(), revokedReason: reason }));
    return true;
  },

  async confirm(id) {
    replace(state, id, (session) => ({ ...session, confirmedAt: clock.now() }));
  },

  seenAt: async (userId, ipAddress) =>
    state.sessions.some(
      (one) => one.userId === userId && addressGroup(one.ipAddress) === addressGroup(ipAddress),
    ),
});

const MAX_LISTED = 1_000;

const isKept = ({ revokedAt, expiresAt }: UserSession, now: Date): boolean =>
  revokedAt === null
    ? expiresAt > now
    : revokedAt.getTime() > now.getTime() - REVOKED_LISTED_DAYS * 86_400_000;
