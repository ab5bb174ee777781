import { type KyselyPlugin, sql, type Transaction } from 'kysely';
import type { Database, Db } from '../schema/database-schema.ts';

/**
 * Does the work in a transaction. When it throws, no statement follows the rollback: Kysely rolls back while statements
 * that were begun side by side still wait for the connection, so those would be kept, or run in another transaction.
 */
export const inTransaction = <T>(db: Db, work: (tx: Transaction<Database>) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    const end = new AbortController();
    try {
      return await work(trx.withPlugin(refusingAfter(end.signal)));
    } catch (error) {
      end.abort(new Error('the transaction was rolled back'));
      // Statements take their turns, so this one comes after all that wait. A failed transaction refuses it.
      await sql`select 1`.execute(trx).catch(() => undefined);
      throw error;
    }
  });

const refusingAfter = (end: AbortSignal): KyselyPlugin => ({
  transformQuery({ node }) {
    end.throwIfAborted();
    return node;
  },
  transformResult: async ({ result }) => result,
});
