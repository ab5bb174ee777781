import type { Test } from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { freshDatabase } from './database.ts';
import { blockedIn } from './locks.ts';
import type { OpenedStorage } from './storage.ts';

/** Storage in a database of its own; null when the test was skipped. */
export async function aDatabase(t: Test): Promise<OpenedStorage | null> {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const pool = openPool({ url });
  const db = openDatabase(pool);
  t.teardown(() => db.destroy());
  return { ...postgresStorage(db), blocked: blockedIn(db) };
}
