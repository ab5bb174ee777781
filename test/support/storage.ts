import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import type { Repositories, Storage } from '../../src/ports/repositories.ts';
import type { Blocked } from './locks.ts';

/** An empty storage; null when the test was skipped. */
export type OpenStorage = (t: Test) => Promise<OpenedStorage | null>;

/** `blocked` where transactions run at the same time; elsewhere they run one after the other. */
export type OpenedStorage = Storage & { readonly blocked?: Blocked };

/** SHA-256. */
export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A user that the storage holds. */
export async function aStoredUser({ users }: Repositories, username = 'ada') {
  const made = await users.insert({
    email: `${username}@example.org`,
    username,
    passwordHash: 'old',
    role: 'user',
    tier: 'free',
    guestUntil: null,
  });
  if ('taken' in made) throw new Error(`${made.taken} is taken`);
  return made.user;
}

/** Where sessions come from. */
export const from = { ipAddress: '192.0.2.1', userAgent: 'test' };

/** How many of them are true. */
export const trues = (answers: readonly unknown[]): number =>
  answers.filter((answer) => answer === true).length;

/** Several calls at the same time, each in a transaction of its own. */
export const atOnce = <T>(
  storage: Storage,
  count: number,
  work: (tx: Repositories, n: number) => Promise<T>,
) => Promise.all(Array.from({ length: count }, (_, n) => storage.inTransaction((tx) => work(tx, n))));

/** A test on an empty storage; skipped where there is none. */
export const on =
  (t: Test, open: OpenStorage) =>
  (name: string, work: (t: Test, repositories: Repositories, storage: OpenedStorage) => Promise<void>) =>
    t.test(name, async (t) => {
      const storage = await open(t);
      if (storage !== null) await work(t, storage.repositories, storage);
    });
