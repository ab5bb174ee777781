import path from 'node:path';
import { openDatabase, openPool } from '../../../adapters/postgres/connection/database.ts';
import { migrate } from '../../../adapters/postgres/migrate.ts';
import { ROOT } from '../process/root.ts';

const MIGRATIONS = path.join(ROOT, 'db', 'migrations');

/** Migrates a database to the newest schema on its own connection, since a migration may take long. */
export async function migrateAt(url: string, directory = MIGRATIONS): Promise<readonly string[]> {
  const db = openDatabase(openPool({ url, poolSize: 1, answerWithinMs: 0 }));
  return await migrate(db, directory).finally(() => db.destroy());
}
