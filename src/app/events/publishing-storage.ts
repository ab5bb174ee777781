import type { Bus } from '../../ports/bus.ts';
import type { EndedTokens } from '../../ports/identity/token-repository.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import { type CredentialChange, publishCredentialChange } from '../identity/auth/credential-changes.ts';
import { publishEventsAdded } from './event-messages.ts';

/**
 * The same storage, announcing to every process each committed change of a session, token, SSH key, user, screen lock or event. Done
 * here, so that no use case can forget it.
 */
export const publishOnCommit = ({ repositories, inTransaction }: Storage, bus: Bus): Storage => ({
  repositories: noteChanges(
    repositories,
    (changed) => publishCredentialChange(bus, changed),
    () => publishEventsAdded(bus),
  ),
  async inTransaction(work) {
    const noted = new Map<string, CredentialChange>();
    let events = false;
    const note = (changed: CredentialChange): void =>
      void noted.set(`${changed.kind} ${changed.id}`, changed);
    const noteEvent = (): void => {
      events = true;
    };
    const result = await inTransaction((tx) => work(noteChanges(tx, note, noteEvent)));
    for (const changed of noted.values()) publishCredentialChange(bus, changed);
    if (events) publishEventsAdded(bus);
    return result;
  },
});

/** `base` with some members replaced. */
const withOverrides = <T extends object>(base: T, replaced: Partial<T>): T =>
  Object.assign(Object.create(base) as T, replaced);

/** With descendants the whole user is checked again: one message, however many they are. */
const endedToken = ({ token, descendants }: EndedTokens, userId: string): CredentialChange =>
  descendants.length > 0 ? { kind: 'user', id: userId } : { kind: 'token', id: token.id };

type Note = (changed: CredentialChange) => void;

const noteChanges = (repositories: Repositories, note: Note, noteEvent: () => void): Repositories =>
  withOverrides(repositories, {
    events: notingEvents(repositories.events, noteEvent),
    sessions: notingSessions(repositories.sessions, note),
    users: notingUsers(repositories.users, note),
    tokens: notingTokens(repositories.tokens, note),
    sshKeys: notingSshKeys(repositories.sshKeys, note),
    screenLocks: notingScreenLocks(repositories.screenLocks, note),
  });

const notingEvents = (events: Repositories['events'], noteEvent: () => void): Repositories['events'] =>
  withOverrides(events, {
    async append(event) {
      await events.append(event);
      noteEvent();
    },
  });

const notingSessions = (sessions: Repositories['sessions'], note: Note): Repositories['sessions'] =>
  withOverrides(sessions, {
    async revoke(id, userId, reason) {
      const done = await sessions.revoke(id, userId, reason);
      if (done) note({ kind: 'session', id });
      return done;
    },
    async revokeOthers(userId, keepId, reason) {
      const ids = await sessions.revokeOthers(userId, keepId, reason);
      if (ids.length > 0) note({ kind: 'user', id: userId });
      return ids;
    },
  });

const notingUsers = (users: Repositories['users'], note: Note): Repositories['users'] =>
  withOverrides(users, {
    async change(id, change) {
      const user = await users.change(id, change);
      if (user !== null) note({ kind: 'user', id });
      return user;
    },
    async rename(id, username) {
      const user = await users.rename(id, username);
      if (user !== null) note({ kind: 'user', id });
      return user;
    },
  });

const notingTokens = (tokens: Repositories['tokens'], note: Note): Repositories['tokens'] =>
  withOverrides(tokens, {
    async revoke(id, userId) {
      const done = await tokens.revoke(id, userId);
      if (done?.changed) note(endedToken(done, userId));
      return done;
    },
    async delete(id, userId) {
      const deleted = await tokens.delete(id, userId);
      if (deleted !== null) note(endedToken(deleted, userId));
      return deleted;
    },
    async revokeAll(userId) {
      await tokens.revokeAll(userId);
      note({ kind: 'user', id: userId });
    },
  });

const notingSshKeys = (sshKeys: Repositories['sshKeys'], note: Note): Repositories['sshKeys'] =>
  withOverrides(sshKeys, {
    async remove(id, userId) {
      const removed = await sshKeys.remove(id, userId);
      if (removed !== null) note({ kind: 'ssh_key', id });
      return removed;
    },
  });

const notingScreenLocks = (locks: Repositories['screenLocks'], note: Note): Repositories['screenLocks'] =>
  withOverrides(locks, {
    async lockSession(id) {
      await locks.lockSession(id);
      note({ kind: 'session', id });
    },
    async unlockSession(id) {
      await locks.unlockSession(id);
      note({ kind: 'session', id });
    },
    async setPasscode(userId, hash) {
      await locks.setPasscode(userId, hash);
      note({ kind: 'user', id: userId });
    },
    async setAutoLock(userId, minutes) {
      await locks.setAutoLock(userId, minutes);
      note({ kind: 'user', id: userId });
    },
  });
