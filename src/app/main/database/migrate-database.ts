import path from 'node:path';
import { openDatabase, openPool } from '../../../adapters/postgres/database.ts';
import { migrate } from '../../../adapters/postgres/migrate.ts';

// src/app/main and dist/app/main are equally deep.
const MIGRATIONS = path.resolve(import.meta.dirname, '../../../../db/migrations');

/** Brings a database to the newest schema, on a line of its own: a migration may take its time. */
export async function migrateAt(url: string, directory = MIGRATIONS): Promise<readonly string[]> {
  const db = openDatabase(openPool({ url, poolSize: 1, answerWithinMs: 0 }));
  return await migrate(db, directory).finally(() => db.destroy());
}
