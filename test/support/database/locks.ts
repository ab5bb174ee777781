import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Test } from 'tap';
import type { Database } from '../../../src/adapters/postgres/schema/database-schema.ts';
import { waitFor } from '../patience.ts';

/** Waits until so many transactions of this database wait for a lock of another. */
export type Blocked = (count: number) => Promise<void>;

export const blockedIn =
  (db: Kysely<Database>): Blocked =>
  (count) => {
    const waits = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    const isReached = async () => ((await waits.execute(db)).rows[0]?.count ?? 0) >= count;
    return waitFor(isReached, { what: `${count} wait for a lock` });
  };

/** A transaction on a connection of its own, for locks that a test holds until it commits. */
export type Holder = {
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<void>;
  readonly commit: () => Promise<void>;
  /** Waits until so many others of this database wait for a lock. */
  readonly blocks: (count: number) => Promise<void>;
};

export async function aHolder(t: Test, url: string): Promise<Holder> {
  const [client, watcher] = [new pg.Client(url), new pg.Client(url)];
  t.teardown(() => Promise.all([client.end(), watcher.end()]));
  await Promise.all([client.connect(), watcher.connect()]);
  await client.query('begin');
  const waiting = async (): Promise<number> => {
    const { rows } = await watcher.query(`select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return rows[0].waiting;
  };
  return {
    sql: async (text, values = []) => void (await client.query(text, [...values])),
    commit: async () => void (await client.query('commit')),
    blocks: (count) => waitFor(async () => (await waiting()) >= count, { what: `${count} wait for a lock` }),
  };
}
