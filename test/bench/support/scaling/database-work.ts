/** What a database was asked: transactions, of which most are one statement. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export type DatabaseWork = {
  /** Transactions a second, in so many seconds from now. */
  perSecond(seconds: number): Promise<number>;
  /** Transactions up to now. */
  total(): Promise<number>;
  stop(): Promise<void>;
};

export async function databaseWork(url: string): Promise<DatabaseWork> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const total = async (): Promise<number> => {
    const text = `select xact_commit + xact_rollback as total from pg_stat_database
      where datname = current_database()`;
    return Number((await db.query<{ total: string }>(text)).rows[0]?.total);
  };
  return {
    total,
    async perSecond(seconds) {
      const [before, start] = [await total(), performance.now()];
      await sleep(seconds * 1000);
      // Its own look is one of them.
      return ((await total()) - before - 1) / ((performance.now() - start) / 1000);
    },
    stop: () => db.end(),
  };
}
