import type { OperationRepository } from '../../src/ports/operation-repository.ts';
import { type Storage, StorageUnavailable } from '../../src/ports/repositories.ts';

type Write = Extract<keyof OperationRepository, 'begin' | 'record' | 'finish'>;

/** A storage that commits the next transaction with such a write to an operation, and whose answer to that is lost. */
export function losesCommits(storage: Storage) {
  let armed: readonly Write[] = [];
  const inTransaction: Storage['inTransaction'] = async (work) => {
    let isLost = false;
    const result = await storage.inTransaction(async (tx) => {
      const operations = { ...tx.operations };
      for (const write of armed) {
        const works = tx.operations[write] as (...args: unknown[]) => Promise<boolean>;
        const noted = async (...args: unknown[]): Promise<boolean> => {
          isLost = true;
          return await works(...args);
        };
        Object.assign(operations, { [write]: noted });
      }
      return await work({ ...tx, operations });
    });
    if (!isLost) return result;
    armed = [];
    throw new StorageUnavailable('the connection failed at COMMIT');
  };
  return {
    storage: { ...storage, inTransaction },
    loseNext: (...writes: readonly Write[]): void => {
      armed = writes;
    },
    /** Whether an answer was lost since. */
    isLost: (): boolean => armed.length === 0,
  };
}
