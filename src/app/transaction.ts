import { Refusal } from '../domain/errors.ts';
import { refuse } from '../domain/result.ts';
import type { InTransaction, Repositories } from '../ports/storage.ts';
import type { AsyncResult } from './async-result.ts';

/** Runs `work` in a transaction that is rolled back when it refuses; returns its result. */
export async function orRollBack<T>(
  inTransaction: InTransaction,
  work: (repositories: Repositories) => AsyncResult<T>,
): AsyncResult<T> {
  try {
    return await inTransaction(async (tx) => {
      const result = await work(tx);
      if (!result.ok) throw new Refusal(result.error);
      return result;
    });
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.error);
    throw error;
  }
}
