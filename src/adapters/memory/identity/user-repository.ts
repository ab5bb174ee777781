import { randomUUID } from 'node:crypto';
import type { User } from '../../../domain/identity/user.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { UserRepository, UserWithPassword } from '../../../ports/identity/user-repository.ts';
import type { MemoryState } from '../memory-state.ts';

const same = (a: string | null, b: string | null): boolean =>
  a !== null && b !== null && a.toLowerCase() === b.toLowerCase();

const isThere = ({ deletedAt }: StoredUser): boolean => deletedAt === null;

function changeUser(state: MemoryState, id: string, to: Partial<StoredUser>): StoredUser | undefined {
  state.users = state.users.map((user) => (user.id === id ? { ...user, ...to } : user));
  return state.users.find((user) => user.id === id);
}

export const memoryUsers = (state: MemoryState, clock: Clock): UserRepository => ({
  ...userReads(state, clock),
  ...userChanges(state, clock),
});

const userReads = (
  state: MemoryState,
  clock: Clock,
): Pick<UserRepository, 'findById' | 'findForLogin' | 'lockForSignIn' | 'lockAdmins' | 'lock'> => ({
  async findById(id) {
    const found = state.users.find((user) => user.id === id && isThere(user));
    return found === undefined ? null : withoutPassword(found);
  },

  async findForLogin(login) {
    const found = state.users.find(
      (user) => isThere(user) && (same(user.email, login) || same(user.username, login)),
    );
    return found === undefined ? null : withPassword(found, clock.now());
  },

  async lockForSignIn(id) {
    const found = state.users.find((user) => user.id === id);
    return found === undefined ? null : withPassword(found, clock.now());
  },

  lockAdmins: async () =>
    state.users.filter((user) => user.role === 'admin' && user.disabledAt === null).map(({ id }) => id),

  lock: async (id) => state.users.some((user) => user.id === id && isThere(user)),
});

const userChanges = (
  state: MemoryState,
  clock: Clock,
): Omit<UserRepository, keyof ReturnType<typeof userReads>> => ({
  async insert({ passwordHash, ...person }) {
    if (state.users.some((user) => same(user.email, person.email))) return { taken: 'email' };
    if (state.users.some((user) => isThere(user) && same(user.username, person.username)))
      return { taken: 'username' };
    const user: User = { ...person, id: randomUUID(), createdAt: clock.now(), disabledAt: null };
    state.users.push({ ...user, passwordHash, disabledReason: null, deletedAt: null });
    return { user };
  },

  async rename(id, username) {
    if (state.users.some((user) => user.id !== id && isThere(user) && same(user.username, username)))
      return null;
    const renamed = changeUser(state, id, { username });
    return renamed === undefined ? null : withoutPassword(renamed);
  },

  async changePassword(id, fromHash, toHash) {
    const found = state.users.find((user) => user.id === id);
    if (found?.passwordHash !== fromHash) return false;
    changeUser(state, id, { passwordHash: toHash });
    return true;
  },

  setPassword: async (id, passwordHash) => void changeUser(state, id, { passwordHash }),

  async change(id, { disabled, ...to }) {
    const found = state.users.find((user) => user.id === id);
    if (found === undefined) return null;
    const disabledAt = disabled ? (found.disabledAt ?? clock.now()) : null;
    const changed = changeUser(state, id, {
      ...to,
      ...(disabled === undefined ? {} : { disabledAt }),
      ...(disabled === false ? { disabledReason: null } : {}),
    });
    return changed === undefined ? null : withoutPassword(changed);
  },
});

type StoredUser = MemoryState['users'][number];

export const withoutPassword = ({
  passwordHash: _,
  disabledReason: __,
  deletedAt: ___,
  ...user
}: StoredUser): User => user;

const withPassword = (stored: StoredUser, now: Date): UserWithPassword => ({
  user: withoutPassword(stored),
  passwordHash: stored.passwordHash,
  disabledReason: stored.disabledReason,
  now,
});
