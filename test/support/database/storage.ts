import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Repositories, Storage } from '../../../src/ports/storage.ts';
import type { Blocked } from './locks.ts';

/** `blocked` where transactions run at the same time; elsewhere they run one after the other. */
export type OpenedStorage = Storage & { readonly blocked?: Blocked };

/** SHA-256. */
export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

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

export type OnStorage = (
  what: string,
  work: (t: Test, repositories: Repositories, storage: OpenedStorage) => Promise<void>,
) => void;

/** Tests of a contract, by the name of the storage. */
export const onStorage =
  (name: string, storage: OpenedStorage): OnStorage =>
  (what, work) =>
    void t.test(`${name}: ${what}`, (t) => work(t, storage.repositories, storage));
