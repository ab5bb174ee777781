import { DummyDriver, type KyselyPlugin, PostgresDialect, sql, Transaction } from 'kysely';
import type { Database, Db } from '../schema/database-schema.ts';

/**
 * Does the work in a transaction. Statements that are begun side by side share a round trip. When the work throws, no
 * statement follows the rollback: those that were begun meanwhile would be kept, or run in another transaction.
 */
export const inTransaction = <T>(db: Db, work: (tx: Transaction<Database>) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    const end = new AbortController();
    const tx = await pipelined(trx);
    try {
      return await work(tx.withPlugin(refusingAfter(end.signal)));
    } catch (error) {
      end.abort(new Error('the transaction was rolled back'));
      // The connection answers in order, so this one comes after all that were sent. A failed transaction refuses it.
      await sql`select 1`.execute(tx).catch(() => undefined);
      throw error;
    }
  });

/** Kysely would send each statement after the answer to the one before, also those that do not wait for each other. */
async function pipelined(trx: Transaction<Database>): Promise<Transaction<Database>> {
  const executor = trx.getExecutor();
  const connection = await executor.provideConnection(async (one) => one);
  return new Transaction<Database>({
    ...UNUSED,
    executor: executor.withConnectionProvider({ provideConnection: (work) => work(connection) }),
  });
}

/** Only for what a transaction refuses: another one inside, or the end of the pool. */
const UNUSED = (() => {
  const dialect = new PostgresDialect({ pool: () => Promise.reject(new Error('within a transaction')) });
  return { dialect, config: { dialect }, driver: new DummyDriver() };
})();

const refusingAfter = (end: AbortSignal): KyselyPlugin => ({
  transformQuery({ node }) {
    end.throwIfAborted();
    return node;
  },
  transformResult: async ({ result }) => result,
});
