import { DummyDriver, PostgresDialect, sql, Transaction } from 'kysely';
import type { Database, Db } from '../schema/database-schema.ts';

/**
 * Does the work in a transaction. Statements that are begun side by side share a round trip. When the work throws, no
 * statement follows the rollback: those that were begun meanwhile would be kept, or run in another transaction.
 */
export const inTransaction = <T>(db: Db, work: (tx: Transaction<Database>) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    const end = new AbortController();
    const { tx, last } = await pipelined(trx, end.signal);
    try {
      return await work(tx);
    } catch (error) {
      end.abort(new Error('the transaction was rolled back'));
      // The connection answers in order, so this one comes after all that were sent. A failed transaction refuses it.
      await sql`select 1`.execute(last).catch(() => undefined);
      throw error;
    }
  });

/**
 * Kysely would send each statement after the answer to the one before, also those that do not wait for each other. After
 * `end` only `last` may send one. A plugin could not refuse the others: compiled statements pass none.
 */
async function pipelined(trx: Transaction<Database>, end: AbortSignal) {
  const executor = trx.getExecutor();
  const connection = await executor.provideConnection(async (one) => one);
  const sending = (check: () => void): Transaction<Database> =>
    new Transaction<Database>({
      ...UNUSED,
      executor: executor.withConnectionProvider({
        provideConnection: async (work) => {
          check();
          return await work(connection);
        },
      }),
    });
  return { tx: sending(() => end.throwIfAborted()), last: sending(() => undefined) };
}

/** Only for what a transaction refuses: another one inside, or the end of the pool. */
const UNUSED = (() => {
  const dialect = new PostgresDialect({ pool: () => Promise.reject(new Error('within a transaction')) });
  return { dialect, config: { dialect }, driver: new DummyDriver() };
})();
